import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.bson.BsonDecoder;
import de.bwaldvogel.mongo.wire.bson.BsonEncoder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.h2.mvstore.WriteBuffer;
import org.h2.mvstore.type.BasicDataType;

/** Documents as BSON: half the size and a fraction of the work of Java's serialization, which is the default. */
final class DocumentType extends BasicDataType<Document> {
  private static final int TYPICAL_BYTES = 1024;

  /** Running mean of the bytes a document takes, since to measure one is to encode it. */
  private volatile int meanBytes = TYPICAL_BYTES;

  @Override
  public int getMemory(Document document) {
    return 2 * meanBytes;
  }

  @Override
  public void write(WriteBuffer target, Document document) {
    ByteBuf bson = Unpooled.buffer(meanBytes);
    BsonEncoder.encodeDocument(document, bson);
    int length = bson.readableBytes();
    meanBytes = (int) ((15L * meanBytes + length) / 16) + 1;
    target.put(bson.nioBuffer());
  }

  /** A BSON document begins with its length. */
  @Override
  public Document read(ByteBuffer source) {
    int start = source.position();
    int length = source.duplicate().order(ByteOrder.LITTLE_ENDIAN).getInt(start);
    Document document = BsonDecoder.decodeBson(Unpooled.wrappedBuffer(source.slice(start, length)));
    source.position(start + length);
    return document;
  }

  @Override
  public Document[] createStorage(int size) {
    return new Document[size];
  }
}
