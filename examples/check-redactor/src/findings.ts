import type { CheckVerdict } from 'model-gateway/guardrail'
import { isJsonObject } from 'model-gateway/plugin'

/** A finding of the service: a range of the text, in characters, not in UTF-16 units. */
interface Finding {
  readonly label: string
  readonly from: number
  readonly to: number
  readonly action: 'mask' | 'block'
}

/**
 * The verdict for these findings: a blocking one denies, others are masked. `undefined` for an
 * invalid reply, because a misplaced mask would reveal what it should hide.
 */
export function verdictOf(answer: unknown, text: string): CheckVerdict | undefined {
  if (!isJsonObject(answer) || !Array.isArray(answer.findings)) return undefined
  const findings: Finding[] = []
  for (const finding of answer.findings) {
    if (!isFinding(finding)) return undefined
    findings.push(finding)
  }
  const blocked = findings.find(({ action }) => action === 'block')
  if (blocked !== undefined) return { action: 'deny', reasonCode: `redactor.${blocked.label}` }
  if (findings.length === 0) return { action: 'allow' }
  const masked = mask(text, findings)
  return masked === undefined ? undefined : { action: 'transformed', text: masked }
}

function mask(text: string, findings: readonly Finding[]): string | undefined {
  // The service counts characters: 😀 is one character, but two units of a JavaScript string.
  const characters = [...text]
  let masked = ''
  let at = 0
  for (const { label, from, to } of findings.toSorted((a, b) => a.from - b.from)) {
    if (from < at || to > characters.length) return undefined
    masked += `${characters.slice(at, from).join('')}[${label}]`
    at = to
  }
  return masked + characters.slice(at).join('')
}

function isFinding(value: unknown): value is Finding & Record<string, never> {
  if (!isJsonObject(value)) return false
  const { label, from, to, action } = value
  return (
    typeof label === 'string' &&
    /^[a-z_]{1,40}$/.test(label) &&
    Number.isInteger(from) &&
    Number.isInteger(to) &&
    0 <= Number(from) &&
    Number(from) < Number(to) &&
    (action === 'mask' || action === 'block')
  )
}
