import type { Redirect, SimpleCommand, Word } from './command.ts'
import { readOptions } from './command-options.ts'
import { knownInput } from './command-output.ts'
import type { Output, Session } from './command-state.ts'
import { normalisePath } from './paths.ts'
import { wordSet } from './word-lists.ts'
import { spend } from './work.ts'

/** What a line writes to a file. */
export interface WrittenFile {
  /** Its text, if it is a literal. */
  readonly text?: string
  /** The program that it is a copy of. */
  readonly program?: string
  /** It was downloaded. */
  readonly fetched?: boolean
}

const mostFiles = 64

/** Files that other programs run: git hooks, and start-up files of shells. */
export const runByOthers =
  /(?:^|\/)(?:\.git\/hooks|\.githooks|\.husky)\/|(?:^|\/)\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|kshrc|envrc)$|^\/etc\/(?:profile|bash\.bashrc|rc\.local|cron)/

const downloaders = wordSet('curl wget wget2 aria2c axel http https xh fetch')

export function isDownloader(executable: string): boolean {
  return downloaders.has(executable)
}

function keyOf(path: string): string {
  return normalisePath(path.replace(/^\/proc\/(?:self|\$\$)\/fd\//, '/dev/fd/'))
}

export function keepFile(session: Session, path: string, file: WrittenFile | undefined): void {
  if (path === '' || path === '/dev/null') return
  if (file === undefined) session.files?.delete(keyOf(path))
  else {
    session.files ??= new Map()
    if (session.files.size >= mostFiles) return
    const key = keyOf(path)
    session.files.set(key, file)
    session.fileNames ??= new Set()
    session.fileNames.add(lastOf(key))
  }
}

/** The file of a path; `./a.sh` is also `/tmp/a.sh` after `cd /tmp`. */
export function writtenFile({ files }: Session, path: string): WrittenFile | undefined {
  if (files === undefined) return undefined
  const key = keyOf(path)
  const known = files.get(key)
  if (known !== undefined || key === '') return known
  spend(4 * files.size)
  for (const [name, file] of files)
    if (name.startsWith('/') !== key.startsWith('/') && /^[^/]/.test(shorter(name, key)))
      if (name.endsWith(`/${key}`) || key.endsWith(`/${name}`)) return file
  return undefined
}

function shorter(a: string, b: string): string {
  return a.length < b.length ? a : b
}

/** The word, with what the line has written to the file that it names. */
export function withContent(word: Word, session: Session): Word {
  // Most words do not name such a file, and comparing paths is slower than their last part.
  if (session.fileNames?.has(lastOf(word.text)) !== true) return word
  const file = writtenFile(session, word.text)
  if (file === undefined) return word
  if (file.text !== undefined) return { ...word, content: file.text }
  return file.fetched ? { ...word, fetched: true } : word
}

export function withContents(words: readonly Word[], session: Session): readonly Word[] {
  let changed: Word[] | undefined
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as Word
    const known = withContent(word, session)
    if (known === word) continue
    changed ??= [...words]
    changed[at] = known
  }
  return changed ?? words
}

/** Whether a command's output goes to a file by these redirects. */
export function writesFile({ operator, descriptor, target }: Redirect): boolean {
  return (
    operator.includes('>') &&
    (descriptor === undefined || descriptor === 1) &&
    !(operator === '>&' && /^[\d-]+$/.test(target.text))
  )
}

/** Tracks what redirects write. */
export function keepRedirected(
  session: Session,
  redirects: readonly Redirect[],
  output: Output,
  fetched: boolean,
): void {
  spend((output ?? '').length >> 3)
  for (const redirect of redirects) {
    if (!writesFile(redirect)) continue
    const path = redirect.target.text
    if (output === undefined) keepFile(session, path, fetched ? { fetched } : undefined)
    else {
      const before = redirect.operator.endsWith('>>') ? writtenFile(session, path)?.text : undefined
      keepFile(session, path, { text: (before ?? '') + output })
    }
  }
}

/**
 * Tracks what a command writes to files by its arguments: `tee a.sh`, `cp /bin/rm x`, `curl -o x`.
 */
export function keepWritten(session: Session, command: SimpleCommand): void {
  const { executable, words } = command
  switch (executable) {
    case 'tee':
    case 'sponge': {
      const text = knownInput(command.stdin)
      if (text === undefined && session.files === undefined) return
      const { operands } = readOptions(words, {})
      for (const { text: path } of operands)
        keepFile(session, path, text === undefined ? undefined : { text })
      return
    }
    case 'dd': {
      const text = knownInput(command.stdin)
      const path = words.find((word) => word.text.startsWith('of='))?.text.slice(3)
      if (text !== undefined && path !== undefined) keepFile(session, path, { text })
      return
    }
    case 'cp':
    case 'mv':
    case 'ln':
    case 'link':
    case 'install': {
      const { operands } = readOptions(words, { short: 'tSgmo', values: ['mode', 'suffix'] })
      const [from, to] = operands
      if (from === undefined || to === undefined || operands.length !== 2) return
      const known = writtenFile(session, from.text)
      const program = from.text.slice(from.text.lastIndexOf('/') + 1)
      keepFile(session, to.text, known ?? { program })
      return
    }
    default:
      if (isDownloader(executable)) keepDownload(session, words)
  }
}

function keepDownload(session: Session, words: readonly Word[]): void {
  const read = readOptions(words, {
    short: 'oOPHdXuAeTbFm',
    values: ['output', 'output-document', 'out'],
  })
  const named = read.options.filter(({ name }) =>
    /^(?:-o|-O|--output|--output-document|--out)$/.test(name),
  )
  for (const { value } of named) {
    if (value === undefined) continue
    // `curl -O url` takes the file name from the URL.
    const path = /^\w+:\/\//.test(value.text) ? fileOf(value.text) : value.text
    keepFile(session, path, { fetched: true })
  }
  if (named.length === 0 && read.operands.length > 0 && words.length > 0)
    for (const { text } of read.operands)
      if (/^\w+:\/\//.test(text)) keepFile(session, fileOf(text), { fetched: true })
}

function fileOf(url: string): string {
  return lastOf(url.replace(/[?#].*$/, ''))
}

function lastOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
