//! Where values come from, and how often each source is drawn.

/// Where a value came from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Source {
    /// An end of the range that the guard leaves, or its neighbour.
    Boundary,
    /// Near 0.
    Small,
    /// Far from 0: near a power of two.
    Large,
    /// A value of an earlier event of this run, or of a constant.
    Seen,
    /// Anywhere in the range; of a finite type, any value.
    Uniform,
    /// The solver's, in a window around a random number.
    Diverse,
    /// The solver's, as it came: nothing else was found.
    Witness,
    /// Those of a plan that leads to Pass ([`crate::planner`]).
    Planned,
}

impl Source {
    /// All of them.
    pub const ALL: [Source; 8] = [
        Source::Boundary,
        Source::Small,
        Source::Large,
        Source::Seen,
        Source::Uniform,
        Source::Diverse,
        Source::Witness,
        Source::Planned,
    ];

    /// The name in reports and configurations.
    pub fn name(self) -> &'static str {
        match self {
            Source::Boundary => "boundary",
            Source::Small => "small",
            Source::Large => "large",
            Source::Seen => "seen",
            Source::Uniform => "uniform",
            Source::Diverse => "diverse",
            Source::Witness => "witness",
            Source::Planned => "planned",
        }
    }
}

/// How often each source is drawn, by weight. `Witness` has none: it is the last resort; neither has
/// `Planned`.
pub type Mix = [(Source, usize); 6];

/// The usual mix.
pub const MIX: Mix = [
    (Source::Boundary, 4),
    (Source::Small, 4),
    (Source::Large, 1),
    (Source::Seen, 3),
    (Source::Uniform, 4),
    (Source::Diverse, 0),
];
