/** Bodies that end with a signal: `fetch` alone does not see to that. */

/**
 * The response with a body that fails once the signal is aborted, whoever reads it. Node's `fetch`
 * follows a signal weakly: after a garbage collection it forgets it, and the body would be waited
 * for without end. `onEnd` is called once the body is over in any way.
 */
export const boundTo = (signal: AbortSignal, response: Response, onEnd: () => void): Response => {
  const { body, status, statusText, headers } = response;
  if (!body) {
    onEnd();
    return response;
  }
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  let fail = (): void => {};
  const end = (): void => {
    signal.removeEventListener('abort', fail);
    onEnd();
  };
  const bound = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        fail = () => {
          end();
          controller.error(signal.reason);
          reader.cancel(signal.reason).catch(() => {});
        };
        if (signal.aborted) fail();
        else signal.addEventListener('abort', fail, { once: true });
      },
      pull: async (controller) => {
        try {
          const { value, done } = await reader.read();
          if (signal.aborted) return;
          if (value) controller.enqueue(value);
          if (!done) return;
          end();
          controller.close();
        } catch (error) {
          end();
          throw error;
        }
      },
      cancel: (reason) => {
        end();
        return reader.cancel(reason);
      },
    },
    // Reads no part before it is asked for.
    { highWaterMark: 0 },
  );
  return new Response(bound, { status, statusText, headers });
};
