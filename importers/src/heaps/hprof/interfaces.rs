//! Interfaces of collections that classes of the JDK implement, which dumps do not record.

/// Interfaces, and the classes that implement them although none of their superclasses does, in JDK 17 and 25.
const IMPLEMENTED: [(&str, &[&str]); 20] = [
    (
        "java.util.Collection",
        &[
            "java.beans.beancontext.BeanContextSupport",
            "java.util.AbstractCollection",
            "java.util.AbstractMap$ViewCollection",
            "java.util.Collections$CheckedCollection",
            "java.util.Collections$SynchronizedCollection",
            "java.util.Collections$UnmodifiableCollection",
            "java.util.concurrent.ConcurrentHashMap$CollectionView",
        ],
    ),
    ("java.util.Collection java.util.Deque java.util.Queue", &["java.util.ReverseOrderDequeView"]),
    (
        "java.util.Collection java.util.List",
        &[
            "java.util.ReverseOrderListView",
            "java.util.concurrent.CopyOnWriteArrayList",
            "java.util.concurrent.CopyOnWriteArrayList$COWSubList",
            "java.util.concurrent.CopyOnWriteArrayList$Reversed",
        ],
    ),
    (
        "java.util.Collection java.util.Set",
        &[
            "java.util.Collections$CheckedMap$CheckedEntrySet",
            "java.util.Properties$EntrySet",
            "javax.security.auth.Subject$SecureSet",
        ],
    ),
    ("java.util.Collection java.util.Set java.util.SortedSet", &["java.util.ReverseOrderSortedSetView"]),
    (
        "java.util.Deque java.util.Queue",
        &[
            "java.util.ArrayDeque",
            "java.util.LinkedList",
            "java.util.concurrent.ConcurrentLinkedDeque",
            "sun.awt.util.IdentityLinkedList",
        ],
    ),
    (
        "java.util.Deque java.util.concurrent.BlockingDeque java.util.concurrent.BlockingQueue",
        &["java.util.concurrent.LinkedBlockingDeque"],
    ),
    (
        "java.util.List",
        &[
            "com.sun.tools.javac.util.List",
            "java.util.AbstractList",
            "java.util.Collections$CheckedList",
            "java.util.Collections$SynchronizedList",
            "java.util.Collections$UnmodifiableList",
            "java.util.ImmutableCollections$AbstractImmutableList",
        ],
    ),
    (
        "java.util.Map",
        &[
            "com.sun.net.httpserver.Headers",
            "java.awt.RenderingHints",
            "java.util.AbstractMap",
            "java.util.Collections$CheckedMap",
            "java.util.Collections$SynchronizedMap",
            "java.util.Collections$UnmodifiableMap",
            "java.util.Hashtable",
            "java.util.jar.Attributes",
            "javax.management.openmbean.TabularDataSupport",
            "javax.script.SimpleBindings",
            "jdk.internal.classfile.impl.ClassPrinterImpl$MapNodeImpl",
            "jdk.internal.util.ReferencedKeyMap",
            "sun.awt.WeakIdentityHashMap",
        ],
    ),
    (
        "java.util.NavigableMap",
        &[
            "java.util.Collections$CheckedNavigableMap",
            "java.util.Collections$SynchronizedNavigableMap",
            "java.util.Collections$UnmodifiableNavigableMap",
        ],
    ),
    ("java.util.NavigableMap java.util.SortedMap", &["java.util.TreeMap", "java.util.TreeMap$NavigableSubMap"]),
    (
        "java.util.NavigableMap java.util.SortedMap java.util.concurrent.ConcurrentMap",
        &["java.util.concurrent.ConcurrentSkipListMap", "java.util.concurrent.ConcurrentSkipListMap$SubMap"],
    ),
    (
        "java.util.NavigableSet",
        &[
            "java.util.Collections$CheckedNavigableSet",
            "java.util.Collections$SynchronizedNavigableSet",
            "java.util.Collections$UnmodifiableNavigableSet",
        ],
    ),
    (
        "java.util.NavigableSet java.util.SortedSet",
        &[
            "java.util.TreeMap$KeySet",
            "java.util.TreeSet",
            "java.util.concurrent.ConcurrentSkipListMap$KeySet",
            "java.util.concurrent.ConcurrentSkipListSet",
        ],
    ),
    ("java.util.Queue", &["java.util.AbstractQueue", "java.util.Collections$CheckedQueue"]),
    (
        "java.util.Set",
        &[
            "com.sun.tools.jdi.EventSetImpl",
            "java.util.AbstractSet",
            "java.util.Collections$CheckedSet",
            "java.util.Collections$SynchronizedSet",
            "java.util.Collections$UnmodifiableSequencedSet",
            "java.util.Collections$UnmodifiableSet",
            "java.util.ImmutableCollections$AbstractImmutableSet",
            "java.util.SequencedMap$1SeqEntrySet",
            "java.util.SequencedMap$1SeqKeySet",
            "java.util.concurrent.ConcurrentHashMap$EntrySetView",
            "java.util.concurrent.ConcurrentHashMap$KeySetView",
        ],
    ),
    (
        "java.util.SortedMap",
        &[
            "java.util.Collections$CheckedSortedMap",
            "java.util.Collections$SynchronizedSortedMap",
            "java.util.Collections$UnmodifiableSortedMap",
            "java.util.ReverseOrderSortedMapView",
            "java.util.ReverseOrderSortedMapView$Submap",
            "java.util.TreeMap$SubMap",
        ],
    ),
    (
        "java.util.SortedSet",
        &[
            "java.util.Collections$CheckedSortedSet",
            "java.util.Collections$SynchronizedSortedSet",
            "java.util.Collections$UnmodifiableSortedSet",
            "java.util.ReverseOrderSortedSetView$Subset",
        ],
    ),
    (
        "java.util.concurrent.BlockingQueue",
        &[
            "java.util.concurrent.ArrayBlockingQueue",
            "java.util.concurrent.DelayQueue",
            "java.util.concurrent.LinkedBlockingQueue",
            "java.util.concurrent.LinkedTransferQueue",
            "java.util.concurrent.PriorityBlockingQueue",
            "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue",
            "java.util.concurrent.SynchronousQueue",
        ],
    ),
    ("java.util.concurrent.ConcurrentMap", &["java.util.concurrent.ConcurrentHashMap"]),
];

/// The known interfaces that a class implements and none of its superclasses does, separated by spaces.
pub(super) fn of_class(name: &str) -> Option<&'static str> {
    IMPLEMENTED.iter().find(|(_, classes)| classes.contains(&name)).map(|&(interfaces, _)| interfaces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::process::Command;

    /// Prints each class of the JDK that implements one of the interfaces, and which of them.
    const PROGRAM: &str = r#"
import java.net.URI;
import java.nio.file.*;
import java.util.*;

class Interfaces {
    static void add(Class<?> type, Set<String> names) {
        for (Class<?> implemented : type.getInterfaces()) {
            names.add(implemented.getName());
            add(implemented, names);
        }
    }

    public static void main(String[] wanted) throws Exception {
        for (Path path : (Iterable<Path>) Files.walk(FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules"))::iterator) {
            String file = path.toString();
            if (!file.endsWith(".class") || file.endsWith("-info.class")) continue;
            String name = file.split("/", 4)[3].replace('/', '.').replaceAll("[.]class$", "");
            Set<String> names = new TreeSet<>(), inherited = new TreeSet<>();
            try {
                Class<?> type = Class.forName(name, false, null);
                if (type.isInterface()) continue;
                add(type, names);
                while ((type = type.getSuperclass()) != null) add(type, inherited);
            } catch (Throwable notOfTheBootLoader) {
                continue;
            }
            names.removeAll(inherited);
            names.retainAll(List.of(wanted));
            if (!names.isEmpty()) System.out.println(name + ":" + String.join(" ", names));
        }
    }
}
"#;

    #[test]
    fn classes_implement_what_the_jdk_says() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let source = folder.path().join("Interfaces.java");
        std::fs::write(&source, PROGRAM).expect("a file");
        let mut wanted: Vec<_> = IMPLEMENTED.iter().flat_map(|(interfaces, _)| interfaces.split(' ')).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let Ok(output) = Command::new("java").arg(&source).args(&wanted).output() else {
            println!("skipped: no JDK");
            return;
        };
        if !output.status.success() {
            println!("skipped: {}", String::from_utf8_lossy(&output.stderr));
            return;
        }
        let said = String::from_utf8(output.stdout).expect("text");
        let said: HashMap<_, _> = said.lines().filter_map(|line| line.split_once(':')).collect();
        assert!(said.len() > 50, "{}", said.len());
        for (&class, &interfaces) in &said {
            // Numbers of anonymous classes change.
            if !class.contains(|c: char| c.is_ascii_digit()) {
                assert_eq!(of_class(class), Some(interfaces), "{class}");
            }
        }
    }
}
