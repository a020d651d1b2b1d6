//! Where machine words end: numbers with which a result that was computed in words goes wrong.

/// Numbers that overflow a word in one operation or two.
pub const EDGES: [i128; 12] = [
    (1 << 31) - 1,
    1 << 31,
    (1 << 31) + 1,
    -(1 << 31),
    (1 << 62) + 1,
    (1 << 63) - 1,
    1 << 63,
    (1 << 63) + 1,
    -(1 << 63),
    -(1 << 63) - 1,
    (1 << 64) - 1,
    (1 << 53) + 1,
];
