//! Properties of this machine that make times vary.

use std::fs;
use std::path::{Path, PathBuf};

/// Load per core above which other work is assumed.
const BUSY: f64 = 0.25;

/// One sentence for each property of this machine that makes times vary. Unreadable properties are skipped.
#[must_use]
pub fn disturbances() -> Vec<String> {
    found(Path::new("/"))
}

fn found(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut governors: Vec<String> = listed(&root.join("sys/devices/system/cpu/cpufreq"))
        .iter()
        .filter_map(|policy| read(&policy.join("scaling_governor")))
        .collect();
    governors.sort();
    governors.dedup();
    if let Some(governor) = governors.iter().find(|governor| *governor != "performance") {
        found.push(format!("the frequency of the processor varies (governor {governor})"));
    }
    let is_boosted = read(&root.join("sys/devices/system/cpu/cpufreq/boost")).is_some_and(|boost| boost == "1")
        || read(&root.join("sys/devices/system/cpu/intel_pstate/no_turbo")).is_some_and(|off| off == "0");
    if is_boosted {
        found.push("the processor has a turbo, which depends on its temperature".to_owned());
    }
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as f64;
    let load = read(&root.join("proc/loadavg")).and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    if let Some(load) = load.filter(|load| load / cores > BUSY) {
        found.push(format!("other work runs: the load is {load:.2} on {cores} cores"));
    }
    let supplies = listed(&root.join("sys/class/power_supply"));
    if supplies.iter().any(|supply| read(&supply.join("status")).is_some_and(|status| status == "Discharging")) {
        found.push("the machine runs on its battery".to_owned());
    }
    found
}

/// The text of a file without white space around it.
fn read(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).map(|entries| entries.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_disturbs_is_told() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(found(root.path()), [""; 0]);
        write("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave\n");
        write("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
        write("proc/loadavg", "9000.00 1 1 1/2 3\n");
        write("sys/class/power_supply/BAT0/status", "Discharging\n");
        assert_eq!(found(root.path()).len(), 4);
    }
}
