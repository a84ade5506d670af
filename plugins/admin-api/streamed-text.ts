const encoder = new TextEncoder()

/**
 * A response body from an async iterable. It does not ask for more while the caller does not read.
 * Rejects if the first piece fails; a later error cuts the body off and is passed to `broke`.
 */
export async function streamedText(
  text: AsyncIterable<string>,
  broke: (error: unknown) => void,
): Promise<ReadableStream<Uint8Array>> {
  const pieces = text[Symbol.asyncIterator]()
  let piece: IteratorResult<string> | undefined = await pieces.next()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = piece ?? (await pieces.next())
          piece = undefined
          if (done === true) controller.close()
          else controller.enqueue(encoder.encode(value))
        } catch (error) {
          broke(error)
          controller.error(error)
        }
      },
      async cancel() {
        await pieces.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
