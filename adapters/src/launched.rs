//! What belongs to a launch: the port that was chosen for it, and the folder for its files.

use std::sync::Arc;

use crate::adapter::Failure;
use crate::temporary::TemporaryFolder;

#[derive(Clone, Default, Debug)]
pub struct Launched {
    pub port: Option<u16>,
    pub folder: Option<Arc<TemporaryFolder>>,
}

impl Launched {
    /// Makes a new folder.
    pub fn new(port: Option<u16>) -> Result<Self, Failure> {
        match TemporaryFolder::new() {
            Ok(folder) => Ok(Launched { port, folder: Some(Arc::new(folder)) }),
            Err(error) => Err(Failure::Start(format!("cannot make a folder for temporary files: {error}"))),
        }
    }

    pub fn hole(&self, name: &str) -> Option<String> {
        match name {
            "port" => self.port.map(|port| port.to_string()),
            "tmp" => self.folder.as_ref().map(|folder| folder.name().to_owned()),
            _ => None,
        }
    }
}
