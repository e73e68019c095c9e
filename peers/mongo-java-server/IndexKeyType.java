import de.bwaldvogel.mongo.backend.KeyValue;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.h2.mvstore.DataUtils;
import org.h2.mvstore.WriteBuffer;
import org.h2.mvstore.type.BasicDataType;
import org.h2.mvstore.type.ObjectDataType;

/**
 * Index keys, value by value. Without it the store knows them only as Java objects, and serializes two of them for
 * every comparison: two thirds of all the work of a small update.
 */
final class IndexKeyType extends BasicDataType<KeyValue> {
  /** In a key that something is looked for by: behind all values. Never stored. */
  static final Object END = new Object();

  /** Stands before a time in the file. None of the store's own tags is negative. */
  private static final byte TIME = -1;

  private static final int TIME_BYTES = 24;

  private final ObjectDataType values = new ObjectDataType();

  @Override
  public int compare(KeyValue left, KeyValue right) {
    int shorter = Math.min(left.size(), right.size());
    for (int i = 0; i < shorter; i++) {
      int order = compareValues(left.get(i), right.get(i));
      if (order != 0) return order;
    }
    return Integer.compare(left.size(), right.size());
  }

  private int compareValues(Object left, Object right) {
    if (left == END || right == END) return Boolean.compare(left == END, right == END);
    // The store has no type of its own for times: it would compare what Java's serialization makes of them, or refuse to.
    if (left instanceof Instant one && right instanceof Instant other) return one.compareTo(other);
    return values.compare(left, right);
  }

  @Override
  public int getMemory(KeyValue key) {
    int memory = 48;
    for (Object value : key) memory += value instanceof Instant ? TIME_BYTES : values.getMemory(value);
    return memory;
  }

  @Override
  public void write(WriteBuffer buffer, KeyValue key) {
    buffer.putVarInt(key.size());
    for (Object value : key) {
      if (value instanceof Instant time) buffer.put(TIME).putLong(time.toEpochMilli());
      else values.write(buffer, value);
    }
  }

  @Override
  public KeyValue read(ByteBuffer buffer) {
    int size = DataUtils.readVarInt(buffer);
    List<Object> read = new ArrayList<>(size);
    for (int i = 0; i < size; i++) read.add(readValue(buffer));
    return new KeyValue(read);
  }

  private Object readValue(ByteBuffer buffer) {
    if (buffer.get(buffer.position()) != TIME) return values.read(buffer);
    buffer.get();
    return Instant.ofEpochMilli(buffer.getLong());
  }

  @Override
  public KeyValue[] createStorage(int size) {
    return new KeyValue[size];
  }
}
