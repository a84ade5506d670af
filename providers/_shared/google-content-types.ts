/** Media types by file extension. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['png', 'image/png'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['avif', 'image/avif'],
  ['mp4', 'video/mp4'],
  ['mpeg', 'video/mpeg'],
  ['mpg', 'video/mpeg'],
  ['mov', 'video/quicktime'],
  ['avi', 'video/x-msvideo'],
  ['wmv', 'video/x-ms-wmv'],
  ['webm', 'video/webm'],
  ['flv', 'video/x-flv'],
  ['3gp', 'video/3gpp'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['flac', 'audio/flac'],
  ['aac', 'audio/aac'],
  ['ogg', 'audio/ogg'],
  ['opus', 'audio/opus'],
  ['aiff', 'audio/aiff'],
  ['m4a', 'audio/mp4'],
  ['pcm', 'audio/pcm'],
  ['pcm16', 'audio/pcm'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['html', 'text/html'],
  ['css', 'text/css'],
  ['csv', 'text/csv'],
  ['xml', 'text/xml'],
  ['rtf', 'text/rtf'],
  ['json', 'application/json'],
])

/** Parameters in which signed URLs and image services have a type or file name. */
const HINTS = [
  ...['response-content-type', 'rsct', 'content-type', 'content_type', 'mime', 'mimetype', 'type'],
  ...['format', 'fm', 'ext', 'filename', 'response-content-disposition', 'rscd'],
]

/** The media type for an extension without dot. */
export function extensionType(extension: string): string | undefined {
  return EXTENSIONS.get(extension.toLowerCase())
}

/** The media type by a URL's path or parameters. */
export function typeOfUrl(address: string): string | undefined {
  const url = URL.parse(address)
  if (url === null) return undefined
  // Videos by page URL, as documented for Vertex AI.
  if (/^(?:(?:www|m)\.)?(?:youtube\.com|youtu\.be)$/.test(url.hostname)) return 'video/mp4'
  const named = typeOfName(url.pathname)
  if (named !== undefined) return named
  const parameters = new Map(
    [...url.searchParams].map(([name, value]) => [name.toLowerCase(), value]),
  )
  for (const hint of HINTS) {
    const value = parameters.get(hint)
    if (value === undefined) continue
    const [type = ''] = value.toLowerCase().split(';')
    const known = [...EXTENSIONS.values()].find((one) => one === type.trim())
    const found = known ?? extensionType(value) ?? typeOfName(value)
    if (found !== undefined) return found
  }
  return undefined
}

function typeOfName(name: string): string | undefined {
  return extensionType(/\.([a-z0-9]+)["']?$/i.exec(name)?.[1] ?? '')
}
