import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.MongoDatabase;
import de.bwaldvogel.mongo.backend.CollectionOptions;
import de.bwaldvogel.mongo.backend.CursorRegistry;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.KeyValue;
import de.bwaldvogel.mongo.backend.QueryResult;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.backend.h2.H2Collection;
import de.bwaldvogel.mongo.backend.h2.H2Database;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.stream.Stream;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;

/**
 * The H2 backend, with cheaper types in the file and a better choice of index. The library uses a unique index only for a
 * query that names exactly its fields, so {@code {_id, state}} reads the whole collection; here a query that names at least
 * an index's fields finds its candidates there, and the rest of the query is matched against those. One that names the
 * first fields of an index finds them in a part of it.
 */
final class IndexedBackend extends H2Backend {
  // Static, for the library's constructor opens what there is before a field of ours is set.
  private static final IndexKeyType KEYS = new IndexKeyType();
  private static final DocumentType DOCUMENTS = new DocumentType();
  private static final LongAdder DOCUMENTS_READ = new LongAdder();

  private final WrittenChanges written;

  IndexedBackend(MVStore store) {
    super(store);
    written = new WrittenChanges(store);
  }

  /**
   * Holds on to the version of the data that a command begins with. Otherwise what others write meanwhile lets the store
   * drop, after 45 seconds of age, the pages that a long scan has yet to read: "Chunk not found".
   */
  @Override
  public Document handleMessage(MongoMessage message) {
    if (message.getDocument().containsKey("fsync")) return written.now();
    MVStore.TxCounter version = getMvStore().registerVersionUsage();
    try {
      return super.handleMessage(message);
    } finally {
      getMvStore().deregisterVersionUsage(version);
    }
  }

  /** As MongoDB, it tells how many documents queries have looked at: what was a scan shows there, however fast it was. */
  @Override
  public Document getServerStatus() {
    Document status = super.getServerStatus();
    Document metrics = (Document) status.get("metrics");
    metrics.put("queryExecutor", new Document("scannedObjects", DOCUMENTS_READ.sum()));
    return status;
  }

  @Override
  protected MongoDatabase openOrCreateDatabase(String name) {
    return new Database(name);
  }

  /** An inner class, for its outer instance is there already when the library's constructor opens the collections. */
  private final class Database extends H2Database {
    Database(String name) {
      super(name, getMvStore(), getCursorRegistry());
    }

    /** As in the library, map names included, but for the kind of collection. */
    @Override
    protected MongoCollection<Object> openOrCreateCollection(String name, CollectionOptions options) {
      String fullName = getDatabaseName() + "." + name;
      MVMap<Object, Document> data =
          getMvStore()
              .openMap("databases." + fullName, new MVMap.Builder<Object, Document>().valueType(DOCUMENTS));
      MVMap<String, Object> meta = getMvStore().openMap("meta." + fullName);
      Function<String, MVMap<KeyValue, Object>> keysOf = index -> openKeys(fullName, index);
      return new Collection(this, name, options, data, meta, cursorRegistry, keysOf);
    }

    /** The library opens the map by its name, and gets the one that is open already: ours, with its key type. */
    @Override
    protected Index<Object> openOrCreateUniqueIndex(
        String collection, String index, List<IndexKey> fields, boolean sparse) {
      openKeys(getFullCollectionNamespace(collection), index);
      return super.openOrCreateUniqueIndex(collection, index, fields, sparse);
    }
  }

  /** The keys of a unique index, under the name that the library has for them. */
  private MVMap<KeyValue, Object> openKeys(String collection, String index) {
    return getMvStore()
        .openMap(collection + "._index_" + index, new MVMap.Builder<KeyValue, Object>().keyType(KEYS));
  }

  private static final class Collection extends H2Collection {
    /** By the name of a unique index: its keys, in their order. */
    private final Function<String, MVMap<KeyValue, Object>> keysOf;

    Collection(
        MongoDatabase database,
        String name,
        CollectionOptions options,
        MVMap<Object, Document> data,
        MVMap<String, Object> meta,
        CursorRegistry cursors,
        Function<String, MVMap<KeyValue, Object>> keysOf) {
      super(database, name, options, data, meta, cursors);
      this.keysOf = keysOf;
    }

    /**
     * A copy: the library changes what it gets here in place, while others may still be writing the same object to
     * their sockets. Changed as a copy and put back, a document that was handed out stays what it was.
     */
    @Override
    protected Document getDocument(Object position) {
      Document document = super.getDocument(position);
      return document == null ? null : document.cloneDeeply();
    }

    @Override
    protected synchronized QueryResult queryDocuments(
        Document query, Document orderBy, int skip, int limit, int batchSize, Document projection) {
      for (Index<Object> index : getIndexes()) {
        Document part = partFor(index, query);
        if (part != null && index.canHandle(part)) {
          Iterable<Object> candidates = index.getPositions(part);
          return matchDocuments(query, candidates, orderBy, skip, limit, batchSize, projection);
        }
      }
      IndexRange range = rangeFor(query, orderBy, limit);
      if (range == null) return super.queryDocuments(query, orderBy, skip, limit, batchSize, projection);
      Stream<Document> documents = range.positions(orderBy).map(this::getDocument).filter(Objects::nonNull);
      Comparator<Document> order = isIn(range, orderBy) ? null : deriveComparator(orderBy);
      return matchDocumentsFromStream(query, documents, skip, limit, batchSize, order, projection);
    }

    /** Without reading what is counted, where that is a part of an index, but for documents that are left out by their ids. */
    @Override
    public synchronized int count(Document query, int skip, int limit) {
      if (query == null || skip > 0 || limit > 0) return super.count(query, skip, limit);
      List<String> without = idsLeftOutBy(query);
      Document asked = new Document(query);
      if (!without.isEmpty()) asked.remove("_id");
      for (IndexRange range : rangesFor(asked)) {
        if (!range.isAllOf(asked)) continue;
        long inIt = without.stream().map(this::getDocument).filter(found -> isFor(asked, found)).count();
        return Math.toIntExact(range.count() - inIt);
      }
      return super.count(query, skip, limit);
    }

    /** The different ids of {@code _id: {$nin: [...]}}; none when the query says anything else of ids. */
    private static List<String> idsLeftOutBy(Document query) {
      if (!(query.get("_id") instanceof Document said) || said.size() != 1) return List.of();
      if (!(said.get("$nin") instanceof List<?> ids)) return List.of();
      boolean areTexts = ids.stream().allMatch(String.class::isInstance);
      return areTexts ? ids.stream().distinct().map(String.class::cast).toList() : List.of();
    }

    private boolean isFor(Document query, Document found) {
      return found != null && documentMatchesQuery(found, query);
    }

    /** The part of an index to read for the query: one that is in order already where a few in order are wanted, else the smallest. */
    private IndexRange rangeFor(Document query, Document orderBy, int limit) {
      List<IndexRange> ranges = rangesFor(query);
      List<IndexRange> inOrder = ranges.stream().filter(range -> isIn(range, orderBy)).toList();
      List<IndexRange> fit = limit > 0 && !inOrder.isEmpty() ? inOrder : ranges;
      return fit.stream().min(Comparator.comparingLong(IndexRange::count)).orElse(null);
    }

    private List<IndexRange> rangesFor(Document query) {
      return getIndexes().stream()
          .filter(Index::isUnique)
          .map(index -> IndexRange.of(index, () -> keysOf.apply(index.getName()), query))
          .filter(Objects::nonNull)
          .toList();
    }

    private static boolean isIn(IndexRange range, Document orderBy) {
      return orderBy == null || orderBy.isEmpty() || range.isIn(orderBy);
    }

    /**
     * The first few of many in an order, with no more of them in memory than are asked for: the library gathers every
     * document that matches, and a large history would take more than the heap.
     */
    @Override
    protected QueryResult matchDocumentsFromStream(
        Document query,
        Stream<Document> documents,
        int skip,
        int limit,
        int batchSize,
        Comparator<Document> order,
        Document projection) {
      Stream<Document> read = documents.peek(document -> DOCUMENTS_READ.increment());
      if (order == null || limit <= 0) {
        return super.matchDocumentsFromStream(query, read, skip, limit, batchSize, order, projection);
      }
      Stream<Document> matching = read.filter(document -> documentMatchesQuery(document, query));
      List<Document> first = firstOf(matching, order, skip + limit);
      return super.matchDocumentsFromStream(query, first.stream(), skip, limit, batchSize, null, projection);
    }

    /** In order; of equal ones, those that came first. */
    private static List<Document> firstOf(Stream<Document> documents, Comparator<Document> order, int count) {
      record Ranked(Document document, long place) {}
      Comparator<Ranked> ranking =
          Comparator.comparing(Ranked::document, order).thenComparingLong(Ranked::place);
      PriorityQueue<Ranked> kept = new PriorityQueue<>(ranking.reversed());
      Iterator<Document> remaining = documents.iterator();
      for (long place = 0; remaining.hasNext(); place++) {
        kept.add(new Ranked(remaining.next(), place));
        if (kept.size() > count) kept.poll();
      }
      return kept.stream().sorted(ranking).map(Ranked::document).toList();
    }

    /** What the query says about the index's fields; null unless it says something about each. */
    private static Document partFor(Index<?> index, Document query) {
      Document part = new Document();
      for (IndexKey field : index.getKeys()) {
        if (!query.containsKey(field.getKey())) return null;
        part.put(field.getKey(), query.get(field.getKey()));
      }
      return part;
    }
  }
}
