import type { SimpleCommand, Word } from './command.ts'
import { expectScript } from './command-embedded.ts'
import type { Nested } from './command-nested.ts'
import { readOptions } from './command-options.ts'
import { knownInput } from './command-output.ts'
import { atPrompt, prompts } from './command-prompts.ts'
import { cronJobs, makeRuns } from './command-scripts.ts'
import { joined, literal } from './command-state.ts'
import { wordList } from './word-lists.ts'
import { spend } from './work.ts'

type Runner = (command: SimpleCommand) => readonly Nested[]

/** Languages in which other programs write a command like this. */
const embedding: ReadonlyMap<string, RegExp> = new Map([
  ['m4', /syscmd\(`?([^')]{0,400})/g],
  ['rpm', /%\(([^)]{0,400})\)/g],
  ['rpmbuild', /%\(([^)]{0,400})\)/g],
  ['cmake', /execute_process\s*\(\s*COMMAND\s+([^)]{0,400})/g],
  ...wordList('tex latex pdftex pdflatex xelatex lualatex').map((name): [string, RegExp] => [
    name,
    /\\write18\s*\{([^}]{0,400})\}/g,
  ]),
])

/** Programs with a special way to run a command, by name. */
export const specialRunners: ReadonlyMap<string, Runner> = new Map<string, Runner>([
  ['ansible', ansible],
  ['salt', salt],
  ['salt-call', salt],
  ['bwrap', bubblewrap],
  ['capsh', capsh],
  ['screen', screen],
  ...wordList('make gmake bmake mingw32-make remake').map(same(makeRuns)),
  ['crontab', cronJobs],
  ['socat', socat],
  ...wordList('nc ncat netcat nc.traditional').map(same(netcat)),
  ...wordList('expect expectk tclsh wish jimsh tclsh8.6').map(same(expectScript)),
  ...wordList('pee mispipe').map(same(textOperands)),
  ...wordList('schtasks forfiles').map(same(slashOption)),
  ...wordList('sed gsed').map(same(sedRuns)),
  ...[...embedding].map(([name, command]): [string, Runner] => [
    name,
    (given) => embedded(given, command),
  ]),
  ['zip', zipTest],
  ['nix', nixRun],
  ['tmux', tmuxCommands],
  ['complete', completion],
  ['bind', keyBinding],
  ...wordList('mapfile readarray').map(same(eachLine)),
  ...[...prompts].map(([name, prompt]): [string, Runner] => [
    name,
    (command) => atPrompt(command, prompt),
  ]),
])

function same(runner: Runner): (name: string) => [string, Runner] {
  return (name) => [name, runner]
}

function asText(word: Word | undefined): readonly Nested[] {
  return word === undefined ? [] : [{ text: word, lenient: true }]
}

/** `ansible all -m shell -a 'uptime'`, `-m reboot`, `-m file -a 'path=/x state=absent'`. */
function ansible({ words }: SimpleCommand): readonly Nested[] {
  const read = readOptions(words, {
    short: 'aimfuteMlBPTcKk',
    values: wordList('args inventory module-name user forks limit become-user extra-vars'),
  })
  const given = read.value('-a', '--args')
  const module = (read.value('-m', '--module-name')?.text ?? 'command').split('.').at(-1) ?? ''
  if (/^(?:shell|command|raw|script|expect|win_shell|win_command)$/.test(module)) {
    const text = given?.text.replace(/\b(?:chdir|creates|removes|executable|warn)=\S+\s*/g, '')
    return asText(given && { ...given, text: (text ?? '').replace(/^(?:cmd|_raw_params)=/, '') })
  }
  const absent = /\bstate=absent\b/.test(given?.text ?? '')
  const path = /\b(?:path|dest|name)=(\S+)/.exec(given?.text ?? '')?.[1]
  if (/^(?:win_)?file$/.test(module))
    return absent && path !== undefined ? [{ argv: ['rm', '-r', path].map(literal) }] : []
  return [{ argv: [literal(module.replace(/^win_/, ''))] }]
}

/** `salt '*' cmd.run 'uptime'`, `salt '*' system.reboot`. */
function salt(command: SimpleCommand): readonly Nested[] {
  const { operands } = readOptions(command.words, { short: 'tGNLECRSI' })
  const at = command.executable === 'salt' ? 1 : 0
  const [name, ...given] = operands.slice(at)
  const [, module = '', verb = ''] = /^(\w+)\.(\w+)$/.exec(name?.text ?? '') ?? []
  if (module === 'cmd') return asText(given[0])
  if (module === 'system') return [{ argv: [literal(verb)] }]
  if (module === 'file' && verb === 'remove')
    return [{ argv: [literal('rm'), literal('-r'), ...given] }]
  return []
}

/** The number of words after a bwrap option, if it is not one. */
const bubbles: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    wordList(
      `--unshare-all --unshare-user --unshare-user-try --unshare-ipc --unshare-pid --unshare-net --unshare-uts
      --unshare-cgroup --unshare-cgroup-try --share-net --new-session --die-with-parent --as-pid-1 --clearenv
      --disable-userns --assert-userns-disabled`,
    ).map((name) => [name, 0]),
  ),
  ...Object.fromEntries(
    wordList(
      `--bind --bind-try --dev-bind --dev-bind-try --ro-bind --ro-bind-try --bind-fd --ro-bind-fd --symlink
      --setenv --file --bind-data --ro-bind-data --chmod --overlay-src`,
    ).map((name) => [name, 2]),
  ),
}

function bubblewrap({ words }: SimpleCommand): readonly Nested[] {
  let at = 0
  while (at < words.length) {
    const text = words[at]?.text ?? ''
    if (!text.startsWith('-')) break
    at += 1
    if (text === '--') break
    at += bubbles[text] ?? 1
  }
  return at < words.length ? [{ argv: words.slice(at) }] : [{ argv: [literal('sh')] }]
}

/** `capsh --drop=cap_net_raw -- -c 'id'`: the arguments are bash's. */
function capsh({ words }: SimpleCommand): readonly Nested[] {
  const at = words.findIndex(({ text }) => text === '--' || text === '==')
  return at === -1 ? [] : [{ argv: [literal('bash'), ...words.slice(at + 1)] }]
}

/** `screen -dm make`, `screen -S x -X stuff 'make\n'`, `-X exec make`. */
function screen({ words }: SimpleCommand): readonly Nested[] {
  const read = readOptions(words, { short: 'cehpSsTtL', leading: true })
  const { operands } = read
  if (!read.has('-X')) return operands.length === 0 ? [] : [{ argv: operands }]
  const [verb, ...given] = operands
  if (verb?.text === 'stuff') {
    const typed = joined(given)
    return asText({ ...typed, text: typed.text.replace(/\\n|\\r|\\015|\^M/g, '\n') })
  }
  return /^(?:exec|screen|at|eval|bindkey)$/.test(verb?.text ?? '')
    ? [{ argv: given }, ...asText(given[0])]
    : []
}

/** `socat TCP:host:80 EXEC:'make'`. */
function socat({ words }: SimpleCommand): readonly Nested[] {
  return words.flatMap((word) => {
    const run =
      /^(?:exec|system|shell):(.+?)(?:,(?:pty|stderr|setsid|fork|pipes|sane|ctty)\b.*)?$/is.exec(
        word.text,
      )?.[1]
    return run === undefined ? [] : asText({ ...word, text: run.replace(/^(['"])(.*)\1$/s, '$2') })
  })
}

/** `ncat -lc 'make'`, `nc -e make`, `--sh-exec`, `--exec`. */
function netcat({ words }: SimpleCommand): readonly Nested[] {
  return words.flatMap((word, at) => {
    if (/^(?:-[a-z]*[ec]|--exec|--sh-exec|--lua-exec)$/.test(words[at - 1]?.text ?? ''))
      return asText(word)
    const attached = /^--(?:sh-)?exec=/.exec(word.text)
    return attached === null ? [] : asText({ ...word, text: word.text.slice(attached[0].length) })
  })
}

function embedded({ words, stdin }: SimpleCommand, command: RegExp): readonly Nested[] {
  const texts = [...words.map(({ text, content }) => content ?? text), knownInput(stdin) ?? '']
  for (const text of texts) spend(text.length)
  return texts.flatMap((text) =>
    [...text.matchAll(command)].flatMap(([, run = '']) => asText(literal(run))),
  )
}

function textOperands({ words }: SimpleCommand): readonly Nested[] {
  return words.filter(({ text }) => !text.startsWith('-')).flatMap(asText)
}

/** `schtasks /create /tr 'make'`, `forfiles /c 'make'`. */
function slashOption({ words }: SimpleCommand): readonly Nested[] {
  return words.flatMap((word, at) =>
    /^\/(?:tr|c)$/i.test(words[at - 1]?.text ?? '') ? asText(word) : [],
  )
}

/** The `e` of sed: `s/x/date/e`, `1e date`. */
function sedRuns({ words }: SimpleCommand): readonly Nested[] {
  const read = readOptions(words, { short: 'efl', attached: 'i', values: ['expression', 'file'] })
  const scripts = read.options.flatMap(({ name, value }) =>
    value !== undefined && /^(?:-e|--expression)$/.test(name) ? [value.text] : [],
  )
  const [operand] = read.operands
  if (scripts.length === 0 && operand !== undefined) scripts.push(operand.text)
  return scripts.flatMap((script) => {
    if (!mayRun.test(script)) return []
    // Limited, because the patterns restart at many positions.
    spend(8 + (script.length * script.length) / 256)
    const replaced = substituted.exec(script)?.[3]
    const run = executed.exec(script)?.[1]
    return [replaced, run].flatMap((text) =>
      text === undefined ? [] : asText(literal(text.replaceAll('&', 'x'))),
    )
  })
}
/** A flag or a command `e`, after anything. */
const mayRun = /[^\w\s][gpiIMm\d]*e|(?:^|[\s;{\d$!/])e\s/
const substituted =
  /(?:^|[;{\n}\s\d,$/])s([^\w\s])((?:\\.|(?!\1).)*)\1((?:\\.|(?!\1).)*)\1[gpiIMm\d]*e/s
const executed = /(?:^|[;{\n])\s*(?:[\d,$!~+\s]|\/(?:\\.|[^/])*\/)*e\s+([^\n]+)/

/** `nix run nixpkgs#bash -- -c 'make'`. */
function nixRun({ words }: SimpleCommand): readonly Nested[] {
  const [verb, ...rest] = readOptions(words, { leading: true }).operands
  const at = rest.findIndex(({ text }) => text === '--')
  const name = rest.slice(0, Math.max(at, 0)).find(({ text }) => !text.startsWith('-'))
  if (verb?.text !== 'run' || name === undefined) return []
  const program = name.text.slice(name.text.lastIndexOf('#') + 1)
  return [{ argv: [literal(program), ...rest.slice(at + 1)] }]
}

/** `tmux if-shell true 'run-shell make'`: operands that are tmux commands. */
function tmuxCommands({ words }: SimpleCommand): readonly Nested[] {
  const at = words.findIndex(({ text }) => /^(?:if|if-shell|confirm|confirm-before)$/.test(text))
  if (at === -1) return []
  return words
    .slice(at + 1)
    .flatMap((word) =>
      word.text.startsWith('-')
        ? []
        : [...asText(word), ...asText({ ...word, text: `tmux ${word.text}` })],
    )
}

/** `zip -T -TT 'make' x.zip f`: the test command for the archive. */
function zipTest({ words }: SimpleCommand): readonly Nested[] {
  return words.flatMap((word, at) => {
    if (/^(?:-\w*TT|--unzip-command)$/.test(words[at - 1]?.text ?? '')) return asText(word)
    const attached = /^--unzip-command=/.exec(word.text)
    return attached === null ? [] : asText({ ...word, text: word.text.slice(attached[0].length) })
  })
}

/** `complete -C 'make' name`. */
function completion({ words }: SimpleCommand): readonly Nested[] {
  return asText(readOptions(words, { short: 'ACFGoPSWX' }).value('-C'))
}

/** `bind -x '"\C-l": make'`. */
function keyBinding({ words }: SimpleCommand): readonly Nested[] {
  const bound = readOptions(words, { short: 'fmqurx' }).value('-x')
  return asText(bound && { ...bound, text: bound.text.replace(/^\s*(?:"[^"]*"|[^:]*):\s*/, '') })
}

/** `mapfile -C 'make' -c 1 lines`. */
function eachLine({ words }: SimpleCommand): readonly Nested[] {
  return asText(readOptions(words, { short: 'dnOsuCc' }).value('-C'))
}
