/** Response bodies that fail when a signal is aborted: `fetch` alone does not ensure that. */

/**
 * The response with a body that fails once the signal is aborted. Node's `fetch` holds a signal
 * weakly: after a garbage collection the read would never end. `onEnd` is called when the body ends
 * in any way.
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
    // Reads each part only on demand.
    { highWaterMark: 0 },
  );
  return new Response(bound, { status, statusText, headers });
};
