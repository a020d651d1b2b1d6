//! The list of the stages, in their order: the one place that names them. A stop names its stage, so this
//! list is below the stages and uses none of them.

coreach_model::words! {
    /// The stages, each with its verb.
    #[derive(serde::Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Stage {
        /// The purpose takes every action everywhere.
        Complete = "complete",
        /// Specification and purpose, in step.
        Product = "product",
        /// Internal actions are gone.
        Close = "close",
        /// What can be seen decides where it leads.
        Determinize = "determinize",
        /// What leads to Accept is kept.
        Select = "select",
        /// The tester takes all that it may see.
        InputComplete = "input_complete",
    }
}

impl Stage {
    /// The name of its result.
    pub fn artifact(self) -> &'static str {
        const ARTIFACTS: [&str; Stage::ALL.len()] =
            ["complete_purpose", "product", "closed", "visible", "test_graph", "test_case"];
        ARTIFACTS[self as usize]
    }

    pub fn before(self) -> Option<Stage> {
        Stage::ALL.into_iter().rfind(|stage| *stage < self)
    }
}
