import type { Redirection } from 'unbash'
import type { Redirect, Stdin, Word } from './command.ts'
import { keepFile, withContent } from './command-files.ts'
import { noCommands, noRedirects, type Place } from './command-state.ts'
import { expandText, singleWord } from './command-words.ts'

export const noRedirections = { redirects: noRedirects, stdin: undefined }

/** With these redirects, a stage's output does not reach the pipe. */
export function leavesStdout(redirects: readonly Redirect[]): boolean {
  return redirects.some(
    ({ operator, descriptor, target }) =>
      operator.includes('>') &&
      (descriptor === undefined || descriptor === 1) &&
      !(operator === '>&' && target.text === '1'),
  )
}

export function readRedirects(
  items: readonly Redirection[],
  place: Place,
): { redirects: readonly Redirect[]; stdin: Stdin | undefined } {
  const redirects: Redirect[] = []
  let stdin: Stdin | undefined
  for (const item of items) {
    const descriptor =
      item.descriptor?.type === 'FileDescriptor' ? item.descriptor.value : undefined
    const toStdin = item.descriptor === undefined || descriptor === 0
    if (item.type === 'Redirect') {
      if (item.target === undefined) continue
      const target = known(singleWord(item.target, place), item.operator, place)
      redirects.push({ operator: item.operator, descriptor, target })
      if (toStdin && item.operator.startsWith('<')) {
        stdin =
          target.content === undefined
            ? { kind: 'file', source: target }
            : { kind: 'text', text: target.content, dynamic: false, produced: noCommands }
      } else if (item.operator.startsWith('<') && target.content !== undefined)
        keepFile(place.session, `/dev/fd/${descriptor}`, { text: target.content })
      continue
    }
    let word: Word | undefined
    if (item.type === 'HereString') word = item.target && singleWord(item.target, place)
    else {
      const quoted = item.delimiter?.quoted ?? false
      const source = item.operator === '<<-' ? item.body.text.replace(/^\t+/gm, '') : item.body.text
      word = expandText(source, quoted ? undefined : (item.body.parts ?? []), place)
    }
    if (toStdin && word !== undefined) {
      const { text, dynamic, produced } = word
      stdin = { kind: 'text', text, dynamic, produced }
    } else if (word !== undefined && !word.dynamic)
      keepFile(place.session, `/dev/fd/${descriptor}`, { text: word.text })
  }
  return { redirects, stdin }
}

/** With what the line has written to the files that this reads. */
function known(target: Word, operator: Redirect['operator'], { session }: Place): Word {
  if (session.files === undefined || target.content !== undefined || !operator.startsWith('<'))
    return target
  const path = operator === '<&' ? `/dev/fd/${target.text}` : target.text
  return withContent({ ...target, text: path }, session)
}
