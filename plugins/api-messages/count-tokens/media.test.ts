import { describe, expect, test } from 'bun:test'
import { imageTokens, pdfTokens } from './media.ts'

const sight = { longestEdge: 1568, mostTokens: 1600 }
const base64 = (data: string) => ({ type: 'base64', media_type: 'image/any', data })
const pngOf = (width: number, height: number) => {
  const file = Buffer.alloc(33)
  file.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')
  file.writeUInt32BE(width, 16)
  file.writeUInt32BE(height, 20)
  return base64(file.toString('base64'))
}

/** The beginnings of files that Pillow 12 has made of one image, 300 pixels wide and 200 high. */
const files = {
  png: 'iVBORw0KGgoAAAANSUhEUgAAASwAAADICAIAAADdvUsCAAACRUlEQVR4nO3TMQEAIAzAMEDI',
  gif: 'R0lGODdhLAHIAIEAAMgeHgAAAAAAAAAAACwAAAAALAHIAEAI/wABCBxI',
  'jpeg, progressive':
    '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI////////////////////////////////////////////////////2wBDAVVaWnhpeOuCguv/////////////////////////////////////////////////////////////////////////wgARCADIASwDASIAAhEBAxEB',
  'webp, lossless': 'UklGRiQAAABXRUJQVlA4TBgAAAAvK8ExAAdQjyLXo/8BAEX6/58i+p/6/zU=',
  'webp, lossy': 'UklGRsIAAABXRUJQVlA4ILYAAACQEACdASosAcgAP3G42WW0ryunICgC',
  'webp, with alpha': 'UklGRu4AAABXRUJQVlA4WAoAAAAQAAAAKwEAxwAAQUxQSBIAAAABB1CyiAgA',
}

describe('an image', () => {
  test.each(Object.entries(files))('has the tokens of its size: %s', (_, data) => {
    expect(imageTokens(base64(data), sight)).toBe(80)
  })

  // https://docs.anthropic.com/en/docs/build-with-claude/vision#evaluate-image-size
  test.each([
    [200, 200, 54],
    [1000, 1000, 1334],
    [1092, 1092, 1590],
    [3136, 784, 820],
    [4000, 4000, 1600],
  ])('of %d × %d pixels is looked at as the vendor says', (width, height, tokens) => {
    expect(imageTokens(pngOf(width, height), sight)).toBe(tokens)
  })

  test('of unknown size has the maximum', () => {
    const odd = [
      undefined,
      null,
      7,
      base64(''),
      base64('?'),
      { type: 'url', url: 'https://a/b.png' },
    ]
    for (const source of [...odd, pngOf(0, 5), base64(files['jpeg, progressive'].slice(0, 100))]) {
      expect(imageTokens(source, sight)).toBe(1600)
    }
  })
})

describe('a PDF', () => {
  const pdf = (text: string) => base64(Buffer.from(text).toString('base64'))

  test('has the tokens of its pages', () => {
    const pages =
      '1 0 obj <</Type /Pages /Count 2>> 2 0 obj <</Type/Page>> 3 0 obj <</Type /Page >>'
    expect(pdfTokens(pdf(pages))).toBe(4_000)
  })

  test('with compressed or too many pages is estimated by its size', () => {
    expect(pdfTokens(pdf('x'.repeat(120_000)))).toBe(6_000)
    expect(pdfTokens(base64('A'.repeat(20_000_000)))).toBe(600_000)
    expect(pdfTokens(base64('A'.repeat(200_000_000)))).toBe(1_200_000)
  })

  test('that only the upstream can fetch counts as five pages', () => {
    expect(pdfTokens({ type: 'url', url: 'https://a/b.pdf' })).toBe(10_000)
    expect(pdfTokens({ type: 'file', file_id: 'f' })).toBe(10_000)
  })
})
