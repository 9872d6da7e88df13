//! The environment of a run and the path of its program, which layouts lengthen.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::how::How;
use crate::layout::LayoutKind;
use crate::shim::Counters;

/// The environment is padded to multiples of this, its pointers included, unless layouts are left as they are.
const ENVIRONMENT_BYTES: usize = 32 << 10;
/// The executed path is padded to multiples of this.
const PATH_BYTES: usize = 256;
/// The longest path.
const MOST_PATH_BYTES: usize = 4000;
/// Prefix of barrow's own variables, which are not inherited.
const OWN: &str = "BARROW_TRIAL_";

/// The variables that runs inherit from this process.
pub(crate) struct Environment {
    inherited: Vec<Cow<'static, OsStr>>,
    /// Libraries that programs load anyway.
    preload: Option<OsString>,
}

impl Environment {
    /// Reads the variables of this process.
    pub(crate) fn inherited() -> Self {
        let others = std::env::vars_os()
            .filter(|(name, _)| !name.as_bytes().starts_with(OWN.as_bytes()) && name != "LD_PRELOAD");
        let preload = std::env::var_os("LD_PRELOAD").filter(|libraries| !libraries.is_empty());
        Environment { inherited: others.map(|(name, value)| variable(name, value.as_bytes())).collect(), preload }
    }

    /// `NAME=VALUE` of all variables of a run. With `shim`, the run loads that library, which counts in these counters.
    pub(crate) fn of_run(&self, how: How<'_>, shim: Option<(&Path, &Counters)>) -> Vec<Cow<'_, OsStr>> {
        let mut variables: Vec<Cow<'_, OsStr>> = self.inherited.iter().map(|one| Cow::from(&**one)).collect();
        let [small, large, offset] = how.round.heap.unwrap_or_default();
        let stack = how.round.stack.unwrap_or_default();
        match shim {
            Some((library, counters)) => {
                let mut libraries = library.as_os_str().to_owned();
                if let Some(others) = &self.preload {
                    libraries.push(":");
                    libraries.push(others);
                }
                variables.push(variable("LD_PRELOAD", libraries.as_bytes()));
                let mut asked = counters.place();
                let counts = u8::from(how.counts_heap);
                // Of one length for all layouts.
                asked.push(format!(":{small:06}:{large:06}:{offset:06}:{stack:06}:{counts}"));
                variables.push(variable("BARROW_TRIAL_SHIM", asked.as_bytes()));
                permit_in_sanitizer(&mut variables);
            }
            None => variables.extend(self.preload.iter().map(|others| variable("LD_PRELOAD", others.as_bytes()))),
        }
        if let Some(values) = how.values {
            variables.push(variable("BARROW_TRIAL_VALUES", values.as_os_str().as_bytes()));
        }
        variables.push(variable("BARROW_TRIAL_SEED", format!("{:020}", how.seed).as_bytes()));
        variables.push(variable("BARROW_TRIAL_LAYOUT", how.layout.kind.name().as_bytes()));
        variables.push(variable("BARROW_TRIAL_KNOBS", how.layout.knobs.names().as_bytes()));
        if how.layout.kind != LayoutKind::AsIs {
            let bytes = padding(&variables) + how.round.env.unwrap_or_default() as usize;
            variables.push(variable("BARROW_TRIAL_PAD", &vec![b'x'; bytes]));
        }
        variables
    }
}

/// Lets the runtime of AddressSanitizer, which refuses to run after another library, run after the shim.
fn permit_in_sanitizer(variables: &mut Vec<Cow<'_, OsStr>>) {
    const NAME: &str = "ASAN_OPTIONS";
    const OPTION: &[u8] = b"verify_asan_link_order=0";
    let known = variables
        .iter_mut()
        .find(|variable| variable.as_bytes().strip_prefix(NAME.as_bytes()).is_some_and(|rest| rest.starts_with(b"=")));
    match known {
        Some(options) => {
            let options = options.to_mut();
            options.push(":");
            options.push(OsStr::from_bytes(OPTION));
        }
        None => variables.push(variable(NAME, OPTION)),
    }
}

fn variable(name: impl AsRef<OsStr>, value: &[u8]) -> Cow<'static, OsStr> {
    let mut bytes = name.as_ref().as_bytes().to_vec();
    bytes.push(b'=');
    bytes.extend_from_slice(value);
    OsString::from_vec(bytes).into()
}

/// Bytes that make the environment a multiple of its padded size, with the pointers to its variables.
fn padding(variables: &[Cow<'_, OsStr>]) -> usize {
    const POINTER: usize = size_of::<usize>();
    let own = "BARROW_TRIAL_PAD=".len() + 1 + POINTER;
    let bytes: usize = variables.iter().map(|variable| variable.len() + 1 + POINTER).sum();
    (bytes + own).next_multiple_of(ENVIRONMENT_BYTES) - bytes - own
}

/// The path to execute, lengthened by the layout with slashes, which leave its meaning unchanged.
pub(crate) fn padded_path(path: &Path, how: How<'_>) -> OsString {
    let bytes = path.as_os_str().as_bytes();
    if how.layout.kind == LayoutKind::AsIs {
        return path.as_os_str().to_owned();
    }
    let slash = bytes.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
    let padded = bytes.len().next_multiple_of(PATH_BYTES) + how.round.argv.unwrap_or_default() as usize;
    let more = padded.min(MOST_PATH_BYTES).saturating_sub(bytes.len());
    let (folder, name) = bytes.split_at(slash);
    OsString::from_vec([folder, &vec![b'/'; more], name].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::how;

    #[test]
    fn fixed_environments_are_of_one_size() {
        let mut environment = Environment::inherited();
        let size = |variables: &[Cow<'_, OsStr>]| variables.iter().map(|variable| variable.len() + 9).sum::<usize>();
        let before = size(&environment.of_run(how("fixed"), None));
        assert!(before.is_multiple_of(ENVIRONMENT_BYTES));
        environment.inherited.push(OsStr::new("MORE=something").into());
        assert_eq!(size(&environment.of_run(how("fixed"), None)), before);
        let random = size(&environment.of_run(how("random=env"), None));
        assert_eq!(random, before + usize::try_from(how("random").round.env.unwrap()).unwrap());
    }

    #[test]
    fn a_padded_path_is_the_same_path() {
        let fixed = padded_path(Path::new("/bin/sh"), how("fixed"));
        assert_eq!(fixed.len(), PATH_BYTES);
        let random = padded_path(Path::new("/bin/sh"), how("random"));
        assert!(random.len() > PATH_BYTES && random.len() <= MOST_PATH_BYTES);
        assert_eq!(std::fs::canonicalize(&random).unwrap(), std::fs::canonicalize("/bin/sh").unwrap());
        assert_eq!(padded_path(Path::new("/bin/sh"), how("as-is")), "/bin/sh");
    }
}
