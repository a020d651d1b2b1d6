//! The readers of specifications and purposes.

use std::cell::OnceCell;
use std::sync::Arc;

use coreach_model::diagnostic::SourceFile;
use coreach_model::iosts::Iosts;
use coreach_model::reader::{Specification, from_bytes, read_purpose, read_specification};
use coreach_model::writer::{write_purpose_yaml, write_yaml};
use coreach_project::file_kind::kind_of;

use crate::{check_findings, coffee_machine};

thread_local! {
    static COFFEE: OnceCell<Specification> = const { OnceCell::new() };
}

/// Bytes as a specification and as a purpose of the coffee machine.
pub fn yaml_reader(bytes: &[u8]) {
    let file = match from_bytes("input.yaml".to_owned(), bytes.to_vec()) {
        Ok(file) => file,
        Err(finding) => return check_findings(&[finding], true),
    };
    if let Err(found) = kind_of(&file) {
        check_findings(&found, true);
    }
    match read_specification(file.clone()) {
        Ok((specification, warnings)) => {
            check_findings(&warnings, false);
            check_written(&specification);
        }
        Err(found) => check_findings(&found, true),
    }
    COFFEE.with(|coffee| {
        let coffee = coffee.get_or_init(coffee_machine);
        match read_purpose(file, coffee) {
            Ok((purpose, warnings)) => {
                check_findings(&warnings, false);
                let text = write_purpose_yaml(&purpose);
                let again = read_purpose(made("written.yaml", text.clone()), coffee);
                let (again, _) = again.unwrap_or_else(|found| panic!("not read back:\n{text}\n{found:#?}"));
                assert_same(&purpose.iosts, &again.iosts, &text);
                assert_eq!((purpose.of, purpose.observes), (again.of, again.observes));
            }
            Err(found) => check_findings(&found, true),
        }
    });
}

fn made(name: &str, text: String) -> Arc<SourceFile> {
    Arc::new(SourceFile { name: name.to_owned(), text })
}

fn check_written(specification: &Specification) {
    let text = write_yaml(&specification.iosts, &specification.types);
    let again = read_specification(made("written.yaml", text.clone()));
    let (again, _) = again.unwrap_or_else(|found| panic!("not read back:\n{text}\n{found:#?}"));
    assert_same(&specification.iosts, &again.iosts, &text);
    assert_eq!(specification.types, again.types, "{text}");
}

/// The same model, but for where it stands in its text.
fn assert_same(a: &Iosts, b: &Iosts, text: &str) {
    let bare = |iosts: &Iosts| {
        let mut iosts = iosts.clone();
        iosts.origin = None;
        iosts.transitions.iter_mut().for_each(|transition| transition.origin = Default::default());
        iosts
    };
    assert_eq!(bare(a), bare(b), "written as\n{text}");
}
