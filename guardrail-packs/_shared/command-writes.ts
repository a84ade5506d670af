import type { ProgramCall, SimpleCommand, Word } from './command.ts'
import { type OptionTable, readOptions } from './command-options.ts'
import { wordList, wordSet } from './word-lists.ts'

/** The files that a program writes, by its command line. */
interface Writer {
  readonly options?: OptionTable
  /** The last operand, each operand, or those from this index on. */
  readonly operands?: 'last' | number
  /** Options whose value is a written file or directory. */
  readonly values?: readonly string[]
  /** It writes only with one of these options. */
  readonly with?: readonly string[]
  /** It does not write with one of these. */
  readonly without?: readonly string[]
  /** It writes only with one of these words among its operands. */
  readonly verbs?: ReadonlySet<string>
  /** Its first word is the action: with such a word it does not write. */
  readonly inert?: RegExp
  /** It writes only what standard input says. */
  readonly fromInput?: boolean
}

const copies: Writer = {
  options: { short: 'tSgmoeBfciFlP', values: wordList('target-directory suffix mode owner group') },
  operands: 'last',
  values: ['-t', '--target-directory'],
  without: ['-d', '--directory', '--dry-run'],
}
const edits: Writer = {
  options: {
    short: 'efl',
    attached: 'i',
    values: ['expression', 'file'],
    flags: ['in-place'],
  },
  operands: 0,
  with: ['-i', '--in-place'],
}
const output = (short: string, ...long: string[]): Writer => ({
  options: { short, values: long },
  values: [...short].map((letter) => `-${letter}`).concat(long.map((name) => `--${name}`)),
})

const writers: ReadonlyMap<string, Writer> = new Map<string, Writer>([
  ...all('cp gcp mv gmv install ginstall rsync scp ditto link', copies),
  ...all('docker podman nerdctl kubectl rclone', {
    operands: 'last',
    verbs: wordSet('cp copy copyto sync move moveto'),
  }),
  ...all('ln gln', {
    options: { short: 'tS', values: wordList('target-directory suffix'), flags: ['force'] },
    operands: 'last',
    values: ['-t', '--target-directory'],
    with: ['-f', '--force'],
  }),
  ...all('sed gsed', edits),
  ...all('perl ruby', { ...edits, options: { short: 'eEIMmr', attached: 'iF' }, with: ['-i'] }),
  ...all('yq', {
    ...edits,
    options: { short: 'p', flags: ['inplace'] },
    with: ['-i', '--inplace'],
  }),
  ...all('awk gawk', {
    options: { short: 'Fvfi', values: ['include'] },
    operands: 0,
    with: ['-i'],
  }),
  ...all('dos2unix unix2dos sponge crudini', { operands: 0, without: ['-n', '--get'] }),
  ...all('truncate gtruncate', {
    options: { short: 'sr', values: ['size', 'reference'] },
    operands: 0,
  }),
  ...all('patch', {
    options: { short: 'idpBDFgorVYzZ', values: ['input'] },
    operands: 0,
    without: ['--dry-run'],
  }),
  ...all('ed red', { options: { short: 'p' }, operands: 0, fromInput: true }),
  ...all('ex vim vi nvim', {
    options: { short: 'cSsu', values: ['cmd'] },
    operands: 0,
    with: ['-c', '-S', '-s', '-e', '--cmd'],
  }),
  ...all('xxd', { options: { short: 'clgso' }, operands: 1 }),
  ...all('ddrescue', { options: { short: 'bcior' }, operands: 1 }),
  ...all('dd_rescue bmaptool rpi-imager', { operands: 'last' }),
  ...all('qemu-img', { options: { short: 'fO' }, operands: 'last' }),
  [
    'curl',
    {
      options: {
        short: 'oHdXuAeTbFmDcwK',
        values: wordList('output output-dir header data request user dump-header cookie-jar'),
      },
      values: wordList('-o --output --output-dir -D --dump-header -c --cookie-jar'),
    },
  ],
  [
    'wget',
    {
      options: {
        short: 'OPoaiteUTQw',
        values: wordList('output-document directory-prefix output-file header'),
      },
      values: wordList('-O --output-document -P --directory-prefix -o --output-file'),
    },
  ],
  [
    'aria2c',
    { options: { short: 'odxsji', values: ['out', 'dir'] }, values: wordList('-o --out -d --dir') },
  ],
  ...all('tar bsdtar gtar', {
    options: { short: 'CfbIFTX', values: ['directory', 'file'] },
    without: wordList('-c --create -t --list -r --append -u --update -d --diff'),
    inert: /^(?!.*x)[a-z]*[ctru]/i,
    values: ['-C', '--directory'],
  }),
  ...all('http https xh', output('o', 'output')),
  ...all('unzip', { options: { short: 'dxP' }, values: ['-d'] }),
  ...all('sort gsort', {
    options: { short: 'okTSt', values: ['output', 'key'] },
    values: ['-o', '--output'],
  }),
  ...all('gpg gpg2 age pandoc iconv gcc cc clang', output('o', 'output')),
  ...all('tcpdump tshark', output('w')),
  ...all('strace ltrace', output('o', 'output')),
  ...all('7z 7za', { options: { short: 'o' }, values: ['-o'] }),
  ...all('cpio', {
    options: { short: 'CDEFHIMORW', values: ['directory'] },
    values: ['-D', '--directory'],
  }),
  ...all('pg_dump pg_dumpall', output('f', 'file')),
  ...all('mysqldump', output('r', 'result-file')),
  ...all('openssl', {
    options: { singleDash: true, values: wordList('out in keyout days subj newkey') },
    values: ['-out', '-keyout'],
  }),
])

function all(names: string, writer: Writer): readonly [string, Writer][] {
  return wordList(names).map((name) => [name, writer])
}

const none: readonly Word[] = []

/** The files and directories that a command writes by its arguments, without redirects. */
export function writtenPaths({ executable, words, stdin }: SimpleCommand): readonly Word[] {
  const writer = writers.get(executable)
  if (writer === undefined || words.length === 0) return none
  if (writer.fromInput && stdin.kind === 'inherited') return none
  const read = readOptions(words, writer.options ?? {})
  if (writer.with && !read.has(...writer.with)) return none
  if (writer.without && read.has(...writer.without)) return none
  if (writer.inert?.test(words[0]?.text ?? '')) return none
  const paths: Word[] = []
  for (const { name, value } of read.options)
    if (value !== undefined && writer.values?.includes(name)) paths.push(value)
  const { operands } = read
  if (writer.verbs && !operands.slice(0, -2).some(({ text }) => writer.verbs?.has(text))) {
    return none
  }
  if (writer.operands === 'last') {
    const last = operands.at(-1)
    if (last !== undefined && operands.length > 1) paths.push(last)
  } else if (writer.operands !== undefined) paths.push(...operands.slice(writer.operands))
  return paths
}

const noTexts: readonly string[] = []

/** The files that a sed or awk script writes: `w /etc/hosts`, `print > "/etc/hosts"`. */
export function writtenByScript({ executable, words }: SimpleCommand): readonly string[] {
  const writing = executable.endsWith('sed')
    ? /(?:^|[\s;{}/\d$!gp])w\s+([^\s;}]+)/g
    : executable.endsWith('awk')
      ? /(?<![>=])>\s*"([^"]+)"/g
      : undefined
  if (writing === undefined) return noTexts
  return words.flatMap(({ text }) => [...text.matchAll(writing)].map(([, path = '']) => path))
}

/** Calls that write their first argument's file, and calls that write their second's. */
const writes =
  /(?:^|\.)(?:writefile(?:sync)?|write_text|write_bytes|writetextfile(?:sync)?|file_put_contents|createwritestream|outputfile(?:sync)?|truncate(?:sync)?|(?:file|io|bun|binfile)\.(?:bin)?write|spit|writelines)$/i
const copiesTo =
  /(?:^|\.)(?:copyfile(?:sync)?|copy2?|copytree|cpsync|cp|mv|move|rename(?:sync)?|replace|symlink(?:sync)?|ln_sf?|urlretrieve|extractall)$/i
const opens = /(?:^|\.)(?:f?open(?:sync)?|file\.new|fdopen)$/i
const ofPath = /(?:^|\.)(?:pure)?(?:posix)?path$/i
const writesPath = /(?:^|\.)(?:write_text|write_bytes)$/

/** The files that a program on the command line writes. */
export function writtenByCalls(calls: readonly ProgramCall[]): readonly string[] {
  const writesPaths = calls.some((call) => writesPath.test(call.name))
  return calls.flatMap(({ name, strings }) => {
    const [first = '', second = '', third = ''] = strings
    if (writes.test(name)) return [first]
    if (copiesTo.test(name)) return strings.slice(1)
    if (ofPath.test(name)) return writesPaths ? [first] : []
    if (!opens.test(name)) return []
    // Perl: `open(F, '>', path)` and `open(F, '>path')`.
    if (/^\+?>$/.test(first)) return [second]
    if (/^\+?>[^>&]/.test(first)) return [first.replace(/^\+?>\s*/, '')]
    if (/^\+?>$/.test(second)) return [third]
    return /^[rbt]*[wx+]/.test(second) ? [first] : []
  })
}
