import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;

/**
 * One Kafka node, broker and controller, in one process for tests: formats its folder when that is new, and serves
 * for as long as somebody holds our stdin open. A line on stdin ends it in good order; the end of stdin at once.
 *
 * <p>Argument: the properties file. Prints {@code READY} when it answers.
 */
public final class TestBroker {
  private static final String CLUSTER = "platen-test-cluster-00";

  private TestBroker() {}

  public static void main(String[] args) throws Exception {
    Properties properties = new Properties();
    try (var reader = Files.newBufferedReader(Path.of(args[0]))) {
      properties.load(reader);
    }
    if (!Files.exists(Path.of(properties.getProperty("log.dirs"), "meta.properties"))) {
      kafka.tools.StorageTool.execute(
          new String[] {"format", "--cluster-id", CLUSTER, "--config", args[0]}, System.err);
    }
    start("stdin", TestBroker::followStdin);
    start("ready", () -> announce(properties.getProperty("listeners")));
    kafka.Kafka.main(new String[] {args[0]});
  }

  private static void start(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
  }

  private static void followStdin() {
    try {
      if (System.in.read() != -1) System.exit(0);
    } catch (IOException gone) {
      // As good as its end.
    }
    Runtime.getRuntime().halt(1);
  }

  /** The first listener accepts connections only once the broker has been let in by its controller. */
  private static void announce(String listeners) {
    int port = Integer.parseInt(listeners.split(",")[0].replaceAll(".*:", ""));
    while (true) {
      try (Socket socket = new Socket()) {
        socket.connect(new InetSocketAddress("127.0.0.1", port), 1000);
        System.out.println("READY");
        return;
      } catch (IOException notYet) {
        try {
          Thread.sleep(20);
        } catch (InterruptedException stopped) {
          return;
        }
      }
    }
  }
}
