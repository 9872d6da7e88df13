//! What on this machine makes times vary.

use std::fs;
use std::path::{Path, PathBuf};

/// A load per core above this is other work.
const BUSY: f64 = 0.25;

/// What makes times vary on this machine, a sentence each; what cannot be read is not told.
#[must_use]
pub fn disturbances() -> Vec<String> {
    found(Path::new("/"))
}

fn found(root: &Path) -> Vec<String> {
    let read = |path: &str| fs::read_to_string(root.join(path)).ok().map(|text| text.trim().to_owned());
    let mut found = Vec::new();
    let mut governors: Vec<String> = listed(&root.join("sys/devices/system/cpu/cpufreq"))
        .iter()
        .filter_map(|policy| {
            fs::read_to_string(policy.join("scaling_governor")).ok().map(|text| text.trim().to_owned())
        })
        .collect();
    governors.sort();
    governors.dedup();
    if let Some(governor) = governors.iter().find(|governor| *governor != "performance") {
        found.push(format!("the frequency of the processor varies (governor {governor})"));
    }
    let is_boosted = read("sys/devices/system/cpu/cpufreq/boost").is_some_and(|boost| boost == "1")
        || read("sys/devices/system/cpu/intel_pstate/no_turbo").is_some_and(|off| off == "0");
    if is_boosted {
        found.push("the processor has a turbo, which depends on its temperature".to_owned());
    }
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as f64;
    let load = read("proc/loadavg").and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    if let Some(load) = load.filter(|load| load / cores > BUSY) {
        found.push(format!("other work runs: the load is {load:.2} on {cores} cores"));
    }
    let supplies = listed(&root.join("sys/class/power_supply"));
    let is_discharging =
        |supply: &PathBuf| fs::read_to_string(supply.join("status")).is_ok_and(|status| status.trim() == "Discharging");
    if supplies.iter().any(is_discharging) {
        found.push("the machine runs on its battery".to_owned());
    }
    found
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
