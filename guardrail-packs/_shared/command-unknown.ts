import type { SimpleCommand, Word } from './command.ts'
import type { Nested } from './command-nested.ts'
import { wordSet } from './word-lists.ts'

/** Programs that read the words after `--` as names, patterns or test arguments. */
const takesData = wordSet(`
  [ ack ag alias ant apt awk basename bat bazel black brew bundle bun cabal cargo cat cd chmod chown cmake
  cmp comm composer cp ctest curl cut cypress date deno df diff dirname docker dotnet du echo egrep eslint
  export expr fd fgrep file find fmt gawk getopt gh git go gradle gradlew grep gzip head helm hg id jest jq
  kill ln local ls make man mix mkdir mocha mv mvn mypy node npm nox nx paste perl pgrep php phpunit pip
  pip3 pkill playwright pnpm poetry prettier printf pushd py.test pylint pytest python python3 rake read
  readlink realpath rebar3 rg rm rmdir rspec ruby ruff sbt sed seq set shift sort source stack stat svn
  swift tail tar tee terraform test touch tox tr tsc tsx type uniq unset uv vitest wc wget which xcodebuild
  yarn yq zig zip
`)
/** Programs that are looked for after the `--` of a program without a table. */
const worthLooking = wordSet('bash dd find git rm sh shred sudo truncate zsh')
const textOptions = /^--(?:command|cmd|exec|exec-command|execute|run|shell-command|on-change)(=|$)/

/** A program without a table: `tool run -- rm -r x`, `tool --exec 'rm -r x'`. */
export function nestedInUnknown({ executable, words }: SimpleCommand): readonly Nested[] {
  if (words.length === 0 || takesData.has(executable)) return none
  const nested: Nested[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as Word
    if (word.text.charCodeAt(0) !== DASH || word.text.charCodeAt(1) !== DASH) continue
    if (word.text === '--') {
      if (worthLooking.has(baseName(words[at + 1]))) nested.push({ argv: words.slice(at + 1) })
      break
    }
    const option = textOptions.exec(word.text)
    if (option === null) continue
    const text =
      option[1] === '=' ? { ...word, text: word.text.slice(option[0].length) } : words[at + 1]
    if (text !== undefined && /\s/.test(text.text)) nested.push({ text, lenient: true })
  }
  return nested
}

const DASH = 45
const none: readonly Nested[] = []

function baseName(word: Word | undefined): string {
  const text = word?.text ?? ''
  return text.slice(text.lastIndexOf('/') + 1)
}
