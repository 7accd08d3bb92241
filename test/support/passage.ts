/** Passes connections on to another port of this machine, byte for byte. */
import { connect, type Socket } from 'node:net';

export interface Passage {
  /** For a server: what each of its connections is given to. */
  readonly pass: (client: Socket) => void;
  /** Ends all that is open. */
  readonly cut: () => void;
}

/** Opens a passage to the port that `to` gives. */
export const openPassage = (to: () => number): Passage => {
  const sockets = new Set<Socket>();
  return {
    pass: (client) => {
      const behind = connect(to(), '127.0.0.1');
      for (const socket of [client, behind]) {
        sockets.add(socket);
        socket
          .on('error', () => {})
          .on('close', () => [client, behind].map((one) => one.destroy()));
      }
      client.pipe(behind).pipe(client);
    },
    cut: () => {
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    },
  };
};
