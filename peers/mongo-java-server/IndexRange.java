import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.KeyValue;
import de.bwaldvogel.mongo.bson.Document;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.Spliterators;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.h2.mvstore.Cursor;
import org.h2.mvstore.MVMap;

/**
 * The part of a unique index that a query leads to: it binds the first fields to values, and perhaps the one after them to
 * a range. The library finds only what is bound in all fields; but the store keeps keys in their order, so what lies
 * between two of them is read, or counted, without the rest. The part may hold more than the query asks for, never less.
 * None of the fields may be a list: a document has one key.
 */
final class IndexRange {
  private static final Set<String> BOUNDS = Set.of("$gt", "$gte", "$lt", "$lte");

  private final MVMap<KeyValue, Object> keys;
  /** Null: from the first key on. */
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

  /** Null when the query says nothing of the first field of the index that leads anywhere. */
  static IndexRange of(Index<?> index, Supplier<MVMap<KeyValue, Object>> keys, Document query) {
    List<String> fields = index.getKeys().stream().map(IndexKey::getKey).toList();
    List<Object> values = new ArrayList<>();
    for (String field : fields) {
      if (!query.containsKey(field) || !isValue(query.get(field))) break;
      values.add(query.get(field));
    }
    Set<String> bound = Set.copyOf(fields.subList(0, values.size()));
    List<String> rest = fields.subList(values.size(), fields.size());
    Document range = rest.isEmpty() ? null : rangeOf(query.get(rest.get(0)));
    // A sparse index does not have the documents that have none of its fields.
    if (range == null && values.stream().allMatch(Objects::isNull)) return null;
    KeyValue low = key(values, bound(range, "$gt", "$gte"));
    KeyValue high = key(values, bound(range, "$lt", "$lte"), IndexKeyType.END);
    return new IndexRange(keys.get(), low, high, bound, rest);
  }

  /** Whether the part is what the query asks for and nothing else. */
  boolean isAllOf(Document query) {
    return bound.equals(query.keySet());
  }

  /** Known without reading it, from the numbers of keys that the store has for each of its pages. */
  long count() {
    return placeOf(high) - (low == null ? 0 : placeOf(low));
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

  /** In the order of the index; backwards where that is what is asked for. Read as far as somebody asks for them. */
  Stream<Object> positions(Document order) {
    boolean backwards = order != null && isIn(order) && isBackwards(order);
    Cursor<KeyValue, Object> cursor =
        backwards ? keys.cursor(high, low, true) : keys.cursor(low, high, false);
    Spliterators.AbstractSpliterator<Object> positions =
        new Spliterators.AbstractSpliterator<>(Long.MAX_VALUE, 0) {
          @Override
          public boolean tryAdvance(Consumer<? super Object> action) {
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

  /** Nothing with operators in it. Null stands for a missing field, in a query as in a key. */
  private static boolean isValue(Object value) {
    return value == null
        || value instanceof String
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

  /** The values as the index has them, and behind them what is not null of the others; null when there is nothing. */
  private static KeyValue key(List<Object> values, Object... others) {
    List<Object> key = new ArrayList<>();
    if (!values.isEmpty()) new KeyValue(values).normalized().forEach(key::add);
    for (Object other : others) if (other != null) key.add(other);
    return key.isEmpty() ? null : new KeyValue(key);
  }
}
