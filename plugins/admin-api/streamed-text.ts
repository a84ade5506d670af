const encoder = new TextEncoder()

/**
 * A text as it is made, for a reply: nothing more is asked for while the caller does not read. Rejects
 * when there is no first piece; an error later than that breaks the reply off, and `broke` hears it.
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
