import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.KeyValue;
import de.bwaldvogel.mongo.bson.Document;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.h2.mvstore.Cursor;
import org.h2.mvstore.MVMap;

/**
 * The part of a unique index that a query leads to, when it binds the first fields to values, and perhaps the one after
 * them to a range. The library finds only what is bound in all fields; but the store keeps keys in their order, so what
 * lies between two of them is read, or counted, without the rest. The part may hold more than the query asks for, never
 * less. None of the fields may be a list: a document has one key.
 */
final class IndexRange {
  private static final Set<String> BOUNDS = Set.of("$gt", "$gte", "$lt", "$lte");

  private final MVMap<KeyValue, Object> keys;
  private final KeyValue low;
  private final KeyValue high;
  /** Fields that are bound to one value. */
  private final Set<String> bound;
  /** The fields behind those, in whose order the part is. */
  private final List<String> rest;

  private IndexRange(
      MVMap<KeyValue, Object> keys, KeyValue low, KeyValue high, Set<String> bound, List<String> rest) {
    this.keys = keys;
    this.low = low;
    this.high = high;
    this.bound = bound;
    this.rest = rest;
  }

  /** Null when the query does not bind the first field of the index to a value. */
  static IndexRange of(Index<?> index, MVMap<KeyValue, Object> keys, Document query) {
    List<String> fields = index.getKeys().stream().map(IndexKey::getKey).toList();
    List<Object> values = new ArrayList<>();
    for (String field : fields) {
      if (!isValue(query.get(field))) break;
      values.add(query.get(field));
    }
    if (values.isEmpty()) return null;
    Set<String> bound = Set.copyOf(fields.subList(0, values.size()));
    List<String> rest = fields.subList(values.size(), fields.size());
    Document range = rest.isEmpty() ? null : rangeOf(query.get(rest.get(0)));
    KeyValue low = key(values, bound(range, "$gt", "$gte"));
    KeyValue high = key(values, bound(range, "$lt", "$lte"), IndexKeyType.END);
    return new IndexRange(keys, low, high, bound, rest);
  }

  /** How many fields are bound to values: of two parts, the one of the index with more of them is smaller. */
  int size() {
    return bound.size();
  }

  /** Whether the part is what the query asks for and nothing else. */
  boolean isAllOf(Document query) {
    return bound.equals(query.keySet());
  }

  /** Known without reading it. */
  long count() {
    return placeOf(high) - placeOf(low);
  }

  /** Whether the part is in this order, forwards or backwards. */
  boolean isIn(Document order) {
    List<String> fields = List.copyOf(order.keySet());
    if (fields.isEmpty() || fields.size() > rest.size() || !fields.equals(rest.subList(0, fields.size()))) {
      return false;
    }
    boolean backwards = isBackwards(order);
    return order.values().stream().allMatch(direction -> ((Number) direction).intValue() < 0 == backwards);
  }

  /** In the order of the index; backwards where that is what is asked for. */
  Stream<Object> positions(Document order) {
    boolean backwards = order != null && isIn(order) && isBackwards(order);
    Cursor<KeyValue, Object> cursor =
        backwards ? keys.cursor(high, low, true) : keys.cursor(low, high, false);
    Spliterators.AbstractSpliterator<Object> positions =
        new Spliterators.AbstractSpliterator<>(Long.MAX_VALUE, 0) {
          @Override
          public boolean tryAdvance(java.util.function.Consumer<? super Object> action) {
            if (!cursor.hasNext()) return false;
            cursor.next();
            action.accept(cursor.getValue());
            return true;
          }
        };
    return StreamSupport.stream(positions, false);
  }

  private long placeOf(KeyValue key) {
    long place = keys.getKeyIndex(key);
    return place >= 0 ? place : -place - 1;
  }

  private static boolean isBackwards(Document order) {
    return ((Number) order.values().iterator().next()).intValue() < 0;
  }

  /** Not null, which stands for a missing field as well, and nothing with operators in it. */
  private static boolean isValue(Object value) {
    return value instanceof String
        || value instanceof Boolean
        || value instanceof Number
        || value instanceof Instant;
  }

  /** Null when it is no range, or one whose ends are not all of a kind that the index keeps in order. */
  private static Document rangeOf(Object value) {
    if (!(value instanceof Document range) || range.isEmpty()) return null;
    for (Map.Entry<String, Object> end : range.entrySet()) {
      boolean isOrdered = end.getValue() instanceof String || end.getValue() instanceof Instant;
      if (!BOUNDS.contains(end.getKey()) || !isOrdered) return null;
    }
    return range;
  }

  private static Object bound(Document range, String without, String with) {
    if (range == null) return null;
    return range.containsKey(without) ? range.get(without) : range.get(with);
  }

  /** The values, and behind them what is not null of the others. */
  private static KeyValue key(List<Object> values, Object... others) {
    List<Object> all = new ArrayList<>(new KeyValue(values).normalized().stream().toList());
    for (Object other : others) if (other != null) all.add(other);
    return new KeyValue(all);
  }
}
