import { isJsonObject, type JsonValue } from 'model-gateway/plugin'

/** Maximum image size of a model; larger images are scaled down. */
export interface Sight {
  readonly longestEdge: number
  readonly mostTokens: number
}

const PIXELS_PER_TOKEN = 750
/** A page is an image plus its text. */
const TOKENS_PER_PAGE = 2_000
/** Estimates the pages of a PDF that cannot be counted, for example compressed ones. */
const BYTES_PER_PAGE = 50_000
/** Assumed for a PDF that only its upstream can fetch. */
const PAGES_UNSEEN = 5
const MOST_PAGES = 600
/** Base64 characters that are read of a file: the image size is near its start. */
const MOST_OF_IMAGE = 262_144
const MOST_OF_PDF = 4_194_304

/** The tokens of an image block's `source`, by the vendor's formula. */
export function imageTokens(source: JsonValue | undefined, sight: Sight): number {
  const size = imageSize(bytesOf(source, MOST_OF_IMAGE))
  if (size === undefined) return sight.mostTokens
  const [width, height] = size
  const scale = Math.min(1, sight.longestEdge / Math.max(width, height))
  const tokens = Math.ceil((width * height * scale * scale) / PIXELS_PER_TOKEN)
  return Math.min(tokens, sight.mostTokens)
}

/** The tokens of a PDF, the `source` of a document block. */
export function pdfTokens(source: JsonValue | undefined): number {
  return TOKENS_PER_PAGE * Math.min(pagesOf(source), MOST_PAGES)
}

function pagesOf(source: JsonValue | undefined): number {
  const data = dataOf(source)
  if (data === undefined) return PAGES_UNSEEN
  const pages = data.length <= MOST_OF_PDF ? countPages(bytesOf(source, MOST_OF_PDF)) : 0
  return pages > 0 ? pages : Math.ceil((data.length * 3) / 4 / BYTES_PER_PAGE)
}

function countPages(pdf: Buffer): number {
  return pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0
}

function dataOf(source: JsonValue | undefined): string | undefined {
  const data = isJsonObject(source) ? source.data : undefined
  return typeof data === 'string' ? data : undefined
}

function bytesOf(source: JsonValue | undefined, most: number): Buffer {
  return Buffer.from(dataOf(source)?.slice(0, most) ?? '', 'base64')
}

/** Width and height of a PNG, JPEG, WebP or GIF; undefined for other data. */
function imageSize(file: Buffer): readonly [number, number] | undefined {
  const size = file.length < 30 ? undefined : readSize(file)
  return size !== undefined && size[0] > 0 && size[1] > 0 ? size : undefined
}

function readSize(file: Buffer): readonly [number, number] | undefined {
  const is = (text: string, at: number) => file.toString('latin1', at, at + text.length) === text
  if (is('\x89PNG', 0)) return [file.readUInt32BE(16), file.readUInt32BE(20)]
  if (is('GIF8', 0)) return [file.readUInt16LE(6), file.readUInt16LE(8)]
  if (is('\xff\xd8', 0)) return jpegSize(file)
  if (!is('RIFF', 0) || !is('WEBP', 8)) return undefined
  if (is('VP8 ', 12)) return [file.readUInt16LE(26) & 0x3fff, file.readUInt16LE(28) & 0x3fff]
  if (is('VP8X', 12)) return [file.readUIntLE(24, 3) + 1, file.readUIntLE(27, 3) + 1]
  if (!is('VP8L', 12)) return undefined
  const bits = file.readUInt32LE(21)
  return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1]
}

/** Walks the segments to the one that begins a frame. */
function jpegSize(file: Buffer): readonly [number, number] | undefined {
  for (let at = 2; at + 9 <= file.length && file[at] === 0xff; ) {
    const marker = file[at + 1] as number
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return [file.readUInt16BE(at + 7), file.readUInt16BE(at + 5)]
    // Fill bytes may come before a marker.
    at += marker === 0xff ? 1 : 2 + file.readUInt16BE(at + 2)
  }
  return undefined
}
