import de.bwaldvogel.mongo.MongoBackend;
import de.bwaldvogel.mongo.wire.MongoDatabaseHandler;
import de.bwaldvogel.mongo.wire.MongoExceptionHandler;
import de.bwaldvogel.mongo.wire.MongoWireMessageEncoder;
import de.bwaldvogel.mongo.wire.MongoWireProtocolHandler;
import de.bwaldvogel.mongo.wire.MongoWireReplyEncoder;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;

/**
 * Serves a backend on a Unix domain socket, as the library's own server does on a port. Everybody on the machine could
 * connect to a port, and the library knows no credentials; a socket is for those who may use its folder.
 */
final class DatabaseServer {
  private final MongoBackend backend;
  private final MultiThreadIoEventLoopGroup acceptor;
  private final MultiThreadIoEventLoopGroup connections;
  private final ChannelGroup clients;
  private final Channel listener;

  /** @param threads each serves its connections one after the other. */
  DatabaseServer(MongoBackend backend, Path socket, int threads) throws IOException {
    this.backend = backend;
    acceptor = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    connections = new MultiThreadIoEventLoopGroup(threads, NioIoHandler.newFactory());
    clients = new DefaultChannelGroup(connections.next());
    Files.deleteIfExists(socket);
    listener =
        new ServerBootstrap()
            .group(acceptor, connections)
            .channel(NioServerDomainSocketChannel.class)
            .childHandler(new Pipeline())
            .bind(UnixDomainSocketAddress.of(socket))
            .syncUninterruptibly()
            .channel();
    Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
  }

  private final class Pipeline extends ChannelInitializer<Channel> {
    @Override
    protected void initChannel(Channel channel) {
      channel
          .pipeline()
          .addLast(
              new MongoWireReplyEncoder(),
              new MongoWireMessageEncoder(),
              new MongoWireProtocolHandler(),
              new MongoDatabaseHandler(backend, clients),
              new MongoExceptionHandler());
    }
  }

  /** Hangs up on everybody, and closes the backend, which writes what it has. */
  void close() {
    listener.close().syncUninterruptibly();
    clients.close().syncUninterruptibly();
    for (MultiThreadIoEventLoopGroup group : new MultiThreadIoEventLoopGroup[] {acceptor, connections}) {
      group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }
    backend.close();
  }
}
