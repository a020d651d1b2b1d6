//! Enums whose values are words of files, reports or the command line. Each value stands in one line with its
//! word. Code that lists, writes or reads the words uses that list.

/// Declares such an enum, with `ALL`, `name` and `named`.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name { $($(#[$of])* $variant,)* }

        impl $name {
            /// All of them, in the order of their declaration.
            pub const ALL: [$name; [$($word),*].len()] = [$($name::$variant),*];

            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            pub fn named(word: &str) -> Option<$name> {
                $name::ALL.into_iter().find(|one| one.name() == word)
            }
        }
    };
}
