import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import org.h2.store.fs.FileBase;
import org.h2.store.fs.FilePathWrapper;

/**
 * Files whose writes wait while the disk is full instead of failing: {@code patient:/path/to/file}.
 *
 * <p>The store gives up for good at the first write that fails, and with it go all changes since the last one. A disk
 * that is full has room again some time; until then changes wait in memory, and once they are a few dozen megabytes
 * their callers wait too. Any other fault is waited for in the same way, since nothing better can be done about it here.
 */
public final class PatientFilePath extends FilePathWrapper {
  /** Told when writes begin to wait, and when they no longer do. */
  interface Listener {
    void waiting(IOException reason);

    void written();
  }

  private static final long RETRY_MS = 250;
  private static volatile Listener listener;
  /** Why a write waits at present; null while none does. */
  private static volatile IOException waitingFor = null;
  /** When waiting is over, by {@link System#currentTimeMillis}: never, until the end is near. */
  private static volatile long deadline = 0;

  /** Writes that fail from now on wait, until {@link #giveUpAfter} says otherwise. Before this call they fail at once. */
  static void beginToWait(Listener told) {
    listener = told;
    deadline = Long.MAX_VALUE;
  }

  static IOException waitingFor() {
    return waitingFor;
  }

  static void giveUpAfter(long milliseconds) {
    deadline = System.currentTimeMillis() + milliseconds;
  }

  @Override
  public String getScheme() {
    return "patient";
  }

  @Override
  public FileChannel open(String mode) throws IOException {
    return new PatientFile(getBase().open(mode));
  }

  private interface Write<T> {
    T run() throws IOException;
  }

  private static <T> T patiently(Write<T> write) throws IOException {
    boolean waited = false;
    while (true) {
      try {
        T done = write.run();
        if (waited) {
          waitingFor = null;
          listener.written();
        }
        return done;
      } catch (ClosedChannelException closed) {
        throw closed;
      } catch (IOException failure) {
        if (System.currentTimeMillis() >= deadline) throw failure;
        if (!waited) listener.waiting(failure);
        waitingFor = failure;
        waited = true;
        pause(failure);
      }
    }
  }

  private static void pause(IOException failure) throws IOException {
    try {
      Thread.sleep(RETRY_MS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw failure;
    }
  }

  /** Every call goes to the file itself; those that may need room on the disk wait for it. */
  private static final class PatientFile extends FileBase {
    private final FileChannel file;

    PatientFile(FileChannel file) {
      this.file = file;
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
      return patiently(() -> file.write(source));
    }

    @Override
    public int write(ByteBuffer source, long position) throws IOException {
      return patiently(() -> file.write(source, position));
    }

    @Override
    public void force(boolean metaData) throws IOException {
      patiently(
          () -> {
            file.force(metaData);
            return null;
          });
    }

    @Override
    public FileChannel truncate(long size) throws IOException {
      return patiently(
          () -> {
            file.truncate(size);
            return this;
          });
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
      return file.read(target);
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
      return file.read(target, position);
    }

    @Override
    public long position() throws IOException {
      return file.position();
    }

    @Override
    public FileChannel position(long position) throws IOException {
      file.position(position);
      return this;
    }

    @Override
    public long size() throws IOException {
      return file.size();
    }

    @Override
    public FileLock tryLock(long position, long size, boolean shared) throws IOException {
      return file.tryLock(position, size, shared);
    }

    @Override
    protected void implCloseChannel() throws IOException {
      file.close();
    }
  }
}
