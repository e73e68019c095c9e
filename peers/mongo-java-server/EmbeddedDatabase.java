import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.h2.mvstore.DataUtils;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.MVStoreException;

/**
 * Serves MongoDB's wire protocol on a loopback port from one H2 file, for as long as somebody holds our stdin open.
 *
 * <p>Arguments: the file, and how long to wait for a lock on it, in milliseconds. Prints {@code PORT <n>} when it
 * listens, or {@code LOCKED} and exits with 3 when another process has the file. At the end of stdin, or on SIGTERM,
 * it writes everything and exits.
 */
public final class EmbeddedDatabase {
  private static final int EXIT_LOCKED = 3;

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
    Path file = Path.of(args[0]);
    MVStore store = open(file, System.currentTimeMillis() + Long.parseLong(args[1]));
    Files.writeString(Path.of(file + ".pid"), Long.toString(ProcessHandle.current().pid()));
    MongoServer server = new MongoServer(new IndexedBackend(store).version(VERSION));
    server.bind(new InetSocketAddress("127.0.0.1", 0), 0, 1024);
    Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
    System.out.println("PORT " + server.getLocalAddress().getPort());
    while (System.in.read() != -1) {
      // Whoever started us has nothing to say; the end of the stream is what we wait for.
    }
    System.exit(0);
  }

  /** A predecessor that was orphaned a moment ago may still be writing: it is given time until the deadline. */
  private static MVStore open(Path file, long deadline) throws Exception {
    while (true) {
      try {
        return new MVStore.Builder().fileName(file.toString()).open();
      } catch (MVStoreException failure) {
        if (failure.getErrorCode() != DataUtils.ERROR_FILE_LOCKED) throw failure;
        if (System.currentTimeMillis() > deadline) {
          System.out.println("LOCKED");
          System.exit(EXIT_LOCKED);
        }
        Thread.sleep(50);
      }
    }
  }
}
