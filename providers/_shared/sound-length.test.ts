import { expect, test } from 'bun:test'
import { soundLength } from './sound-length.ts'

/** 16 000 bytes a second. */
const fmt = '666d7420' + '10000000' + '01000100' + '401f0000' + '803e0000' + '02001000'
const wav = (chunks: string) => Buffer.from(`52494646ffffffff57415645${chunks}`, 'hex')
const flac = (rate: number, samples: number) => {
  const file = Buffer.alloc(42)
  file.write('fLaC')
  file.writeUIntBE(rate << 4, 18, 3)
  file.writeUInt32BE(samples, 22)
  return file
}

test.each([
  ['WAV', Buffer.concat([wav(`${fmt}64617461007d0000`), Buffer.alloc(32_000)]), 2],
  [
    'WAV with a list first, and of unknown length',
    Buffer.concat([wav(`${fmt}4c495354030000006162630064617461ffffffff`), Buffer.alloc(8_000)]),
    0.5,
  ],
  ['WAV without a format', wav('64617461007d0000'), undefined],
  ['FLAC', flac(44_100, 88_200), 2],
  ['FLAC of unknown length', flac(44_100, 0), undefined],
  ['MP3', Buffer.from('ID3'), undefined],
  ['nothing', Buffer.alloc(0), undefined],
])('%s', async (_, bytes, seconds) => {
  expect(await soundLength(new Blob([bytes]))).toBe(seconds as number)
})
