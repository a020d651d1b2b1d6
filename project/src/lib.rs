//! What the user *wrote*, beside models: configurations, IUT files, campaigns, and what is prepared from them.

pub mod budget;
pub mod campaign;
pub mod cases;
pub mod configuration;
pub mod instantiate;
pub mod iut;
pub mod jobs;
pub mod limits;
pub mod making;
pub mod models;
pub mod once;
pub mod outputs;
mod page;
pub mod project;
pub mod render;
pub mod stored;
pub mod summary;
pub mod unreachable;
pub mod whole;
pub mod written;
