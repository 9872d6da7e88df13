import com.sun.source.tree.*;
import com.sun.source.util.*;
import javax.tools.*;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;

/** Parses the Java files below a folder and keeps every syntax tree, then waits. */
public class Compile {
    static List<CompilationUnitTree> trees = new ArrayList<>();
    static Map<String, Map<String, Integer>> words = new TreeMap<>();

    public static void main(String[] arguments) throws Exception {
        int most = Integer.parseInt(arguments[1]);
        List<Path> files;
        try (Stream<Path> paths = Files.walk(Path.of(arguments[0]))) {
            files = paths.filter(path -> path.toString().endsWith(".java")).sorted().limit(most).collect(Collectors.toList());
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask) compiler.getTask(null, manager, d -> {}, List.of("-proc:none"), null, manager.getJavaFileObjectsFromPaths(files));
            for (CompilationUnitTree tree : task.parse()) {
                trees.add(tree);
                Map<String, Integer> counts = new HashMap<>();
                new TreeScanner<Void, Void>() {
                    @Override public Void visitIdentifier(IdentifierTree node, Void nothing) {
                        counts.merge(node.getName().toString(), 1, Integer::sum);
                        return null;
                    }
                }.scan(tree, null);
                words.put(tree.getSourceFile().getName(), counts);
            }
        }
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }
}
