//! The list of the stages, in their order: the one place that names them. A stop names its stage, so this
//! list is below the stages and uses none of them.

macro_rules! stages {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal, $artifact:literal;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Stage {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Stage {
            pub const ALL: [Stage; [$($name),*].len()] = [$(Stage::$variant),*];

            pub fn name(self) -> &'static str {
                match self { $(Stage::$variant => $name,)* }
            }

            pub fn artifact(self) -> &'static str {
                match self { $(Stage::$variant => $artifact,)* }
            }

            pub fn before(self) -> Option<Stage> {
                Stage::ALL.into_iter().rfind(|stage| *stage < self)
            }
        }
    };
}

// The stage, its verb, and its result's name.
stages! {
    /// The purpose takes every action everywhere.
    Complete = "complete", "complete_purpose";
    /// Specification and purpose, in step.
    Product = "product", "product";
    /// Internal actions are gone.
    Close = "close", "closed";
    /// What can be seen decides where it leads.
    Determinize = "determinize", "visible";
    /// What leads to Accept is kept.
    Select = "select", "test_graph";
    /// The tester takes all that it may see.
    InputComplete = "input_complete", "test_case";
}
