import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.exception.MongoServerError;
import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.h2.mvstore.MVStore;

/**
 * The command {@code fsync}: everything that was changed before it is in the file when it responds, so that a process
 * that is killed afterwards has not lost it. The store writes by itself once a second only. It fails while changes
 * cannot be written, instead of waiting as the store does.
 */
final class WrittenChanges {
  /** MongoDB's own code for it. */
  private static final int OUT_OF_DISK_SPACE = 14031;
  /** How often a write that has not ended is asked whether it waits for room, in milliseconds. */
  private static final long LOOK_MS = 20;

  private final MVStore store;
  // A write that waits for room keeps its thread for as long.
  private final ExecutorService writers =
      Executors.newCachedThreadPool(
          work -> {
            Thread thread = new Thread(work, "written-changes");
            thread.setDaemon(true);
            return thread;
          });

  WrittenChanges(MVStore store) {
    this.store = store;
  }

  /** Those that come at the same time are served by one write: the store has nothing to write for the others. */
  Document now() {
    failIfWaiting();
    Future<?> writing = writers.submit(store::commit);
    while (true) {
      try {
        writing.get(LOOK_MS, TimeUnit.MILLISECONDS);
        return new Document("ok", 1.0);
      } catch (TimeoutException notYet) {
        failIfWaiting();
      } catch (ExecutionException failure) {
        throw notWritten(failure.getCause());
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        throw notWritten(interrupted);
      }
    }
  }

  private static void failIfWaiting() {
    IOException reason = PatientFilePath.waitingFor();
    if (reason != null) throw notWritten(reason);
  }

  private static MongoServerError notWritten(Throwable reason) {
    return new MongoServerError(
        OUT_OF_DISK_SPACE, "OutOfDiskSpace", "changes cannot be written: " + reason.getMessage(), reason);
  }
}
