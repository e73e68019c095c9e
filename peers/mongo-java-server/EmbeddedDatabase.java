import de.bwaldvogel.mongo.MongoVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.h2.mvstore.DataUtils;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.MVStoreException;
import org.h2.store.fs.FilePath;

/**
 * Serves MongoDB's wire protocol on a Unix domain socket from one H2 file, for as long as somebody holds our stdin open.
 *
 * <p>Arguments: the file, how long to wait for a lock on it, in milliseconds, and the socket. What it has to say are lines
 * on stdout that begin with {@code platen-database}, so that nothing the JVM prints can be taken for one of them:
 *
 * <ul>
 *   <li>{@code JVM <name>}: what runs it, first of all
 *   <li>{@code LISTENING}: it accepts connections
 *   <li>{@code LOCKED}: another process has the file; exit code 3
 *   <li>{@code FAILED <reason>}: it cannot start, or it cannot go on; exit code 4
 *   <li>{@code WAITING <reason>}, {@code WRITTEN}: changes cannot be written at present, and now they are
 * </ul>
 *
 * <p>At the end of stdin, or on SIGTERM, it writes everything and exits.
 */
public final class EmbeddedDatabase {
  private static volatile boolean opened = false;
  private static final int EXIT_LOCKED = 3;
  private static final int EXIT_FAILED = 4;
  /**
   * A slow query holds up the other connections of its thread: so many that each has one to itself. Each takes two
   * file descriptors from the start, of the 1,024 that a process has on some machines; where there are fewer, half of
   * them are for threads, and the rest for connections and files.
   */
  private static final int CONNECTION_THREADS = 256;

  private static final int DESCRIPTORS_OF_THREAD = 2;
  private static final Pattern OPEN_FILES = Pattern.compile("^Max open files +(\\d+)");

  /** Less than whoever started us waits for the end before it kills us. */
  private static final long LAST_WRITES_MS = 8000;

  /** The library's own newest version is too old for current drivers, which need wire version 9 or more. */
  private static final MongoVersion VERSION =
      new MongoVersion() {
        @Override
        public List<Integer> getVersionArray() {
          return List.of(5, 0, 0);
        }

        @Override
        public int getWireVersion() {
          return 13;
        }
      };

  private EmbeddedDatabase() {}

  public static void main(String[] args) throws Exception {
    say("JVM " + System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
    Path file = Path.of(args[0]);
    FilePath.register(new PatientFilePath());
    MVStore store = null;
    try {
      store = open(file, System.currentTimeMillis() + Long.parseLong(args[1]));
      Files.writeString(Path.of(file + ".pid"), Long.toString(ProcessHandle.current().pid()));
    } catch (MVStoreException | IOException | IllegalArgumentException failure) {
      fail(failure);
    }
    opened = true;
    try {
      serve(store, Path.of(args[2]));
    } catch (IOException | IllegalStateException failure) {
      fail(failure);
    }
  }

  private static void serve(MVStore store, Path socket) throws IOException {
    PatientFilePath.beginToWait(
        new PatientFilePath.Listener() {
          @Override
          public void waiting(IOException reason) {
            say("WAITING " + oneLine(reason));
          }

          @Override
          public void written() {
            say("WRITTEN");
          }
        });
    DatabaseServer server =
        new DatabaseServer(new IndexedBackend(store).version(VERSION), socket, connectionThreads());
    Runtime.getRuntime().addShutdownHook(new Thread(() -> close(server)));
    say("LISTENING");
    while (System.in.read() != -1) {
      // Whoever started us has nothing to say; the end of the stream is what we wait for.
    }
    System.exit(0);
  }

  private static int connectionThreads() {
    try (Stream<String> limits = Files.lines(Path.of("/proc/self/limits"))) {
      Matcher found = OPEN_FILES.matcher(limits.filter(OPEN_FILES.asPredicate()).findFirst().orElse(""));
      if (!found.find()) return CONNECTION_THREADS;
      long most = Long.parseLong(found.group(1)) / 2 / DESCRIPTORS_OF_THREAD;
      return (int) Math.max(1, Math.min(CONNECTION_THREADS, most));
    } catch (IOException untold) {
      return CONNECTION_THREADS;
    }
  }

  private static void close(DatabaseServer server) {
    PatientFilePath.giveUpAfter(LAST_WRITES_MS);
    server.close();
  }

  /** A predecessor that was orphaned a moment ago may still be writing: it is given time until the deadline. */
  private static MVStore open(Path file, long deadline) throws InterruptedException {
    while (true) {
      try {
        MVStore store =
            new MVStore.Builder()
                .fileName("patient:" + file)
                .backgroundExceptionHandler((thread, failure) -> afterOpening(failure))
                .open();
        if (store.isReadOnly()) throw new IllegalArgumentException("the file may not be written: " + file);
        return store;
      } catch (MVStoreException failure) {
        if (failure.getErrorCode() != DataUtils.ERROR_FILE_LOCKED) throw failure;
        if (System.currentTimeMillis() > deadline) {
          say("LOCKED");
          Runtime.getRuntime().halt(EXIT_LOCKED);
        }
        Thread.sleep(50);
      }
    }
  }

  /** The store calls its handler for what makes opening fail too, which is thrown besides. */
  private static void afterOpening(Throwable failure) {
    if (opened) fail(failure);
  }

  /** A store that has failed once has closed itself; what it would still answer is wrong. */
  private static void fail(Throwable failure) {
    Throwable cause = failure;
    while (cause.getCause() != null) cause = cause.getCause();
    say("FAILED " + oneLine(cause));
    Runtime.getRuntime().halt(EXIT_FAILED);
  }

  private static String oneLine(Throwable failure) {
    String text = failure.getMessage() == null ? failure.toString() : failure.getMessage();
    return text.lines().findFirst().orElse("");
  }

  private static synchronized void say(String text) {
    System.out.println("platen-database " + text);
    System.out.flush();
  }
}
