/** Files for test calls. */
export function form(fields: Readonly<Record<string, string | File>>): FormData {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) data.append(name, value)
  return data
}

/** One second of silence as a WAV file: 8000 samples of 16 bits. */
export function silence(): File {
  const samples = 8000
  const bytes = new DataView(new ArrayBuffer(44 + 2 * samples))
  const text = (offset: number, word: string) => {
    for (let i = 0; i < word.length; i++) bytes.setUint8(offset + i, word.charCodeAt(i))
  }
  text(0, 'RIFF')
  bytes.setUint32(4, 36 + 2 * samples, true)
  text(8, 'WAVEfmt ')
  bytes.setUint32(16, 16, true)
  bytes.setUint16(20, 1, true)
  bytes.setUint16(22, 1, true)
  bytes.setUint32(24, samples, true)
  bytes.setUint32(28, 2 * samples, true)
  bytes.setUint16(32, 2, true)
  bytes.setUint16(34, 16, true)
  text(36, 'data')
  bytes.setUint32(40, 2 * samples, true)
  return new File([bytes.buffer as ArrayBuffer], 'silence.wav', { type: 'audio/wav' })
}

/** 64 × 64 pixels; transparent, because some models edit only transparent parts. */
const PNG = [
  'iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAYAAACqaXHeAAAAYElEQVR42u3QAQ0AAAwCIKMb3Rzf',
  'IQLpcxEgQIAAAQIECBAgQIAAAQIECBAgQIAAAQIECBAgQIAAAQIECBAgQIAAAQIECBAgQIAAAQIE',
  'CBAgQIAAAQIECBAgQIAAAQLuG3/EAeFoPI0VAAAAAElFTkSuQmCC',
].join('')

/** A half-transparent grey square as a PNG file. */
export function greySquare(): File {
  const bytes = Uint8Array.from(atob(PNG), (character) => character.charCodeAt(0))
  return new File([bytes], 'square.png', { type: 'image/png' })
}
