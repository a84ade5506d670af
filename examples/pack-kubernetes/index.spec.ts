import { expect, test } from 'bun:test'
import type { GuardInput } from 'model-gateway/guardrail'
import { packCost, seededRandom, testGuardrailPack, testPlugin } from 'model-gateway/testing'
import plugin from './src/index.ts'
import { kubernetesPack } from './src/pack.ts'

testPlugin({ plugin })

testGuardrailPack({ pack: kubernetesPack, folder: import.meta.dir, atLeast: 50 })

const command = (text: string | readonly string[]): GuardInput => ({
  kind: 'command',
  phase: 'harness_pre_tool',
  command: text,
})

test('quotes and backslashes do not change a denied verdict', () => {
  const random = seededRandom(9)
  const text = 'kubectl delete namespace shop'
  for (let round = 0; round < 500; round++) {
    const at = Math.floor(random() * text.length)
    const quote = ["''", '""', '\\'][Math.floor(random() * 3)] as string
    // A backslash before a space joins two words: another command.
    if (text[at] === ' ' && quote === '\\') continue
    const match = kubernetesPack.evaluate(command(text.slice(0, at) + quote + text.slice(at)))
    expect([at, quote, match?.packId]).toEqual([at, quote, 'custom.kubernetes'])
  }
})

test('text and argument vector have the same verdict', () => {
  for (const words of [
    ['kubectl', 'delete', 'pvc', 'orders'],
    ['helm', 'uninstall', 'shop'],
    ['kubectl', 'get', 'pods'],
  ]) {
    const [ofText, ofVector] = [words.join(' '), words].map((each) =>
      kubernetesPack.evaluate(command(each)),
    )
    expect(ofText).toEqual(ofVector)
  }
})

test('text that is too long is not read', () => {
  const long = command(`kubectl get pods ${'x'.repeat(1_000_000)}`)
  expect(kubernetesPack.evaluate(long)?.ruleId).toBe('unreadable')
})

test('a verdict is fast, above all for unrelated input', async () => {
  const dear = command('cd infra && sudo kubectl -n shop delete pod shop-1 --grace-period=30')
  expect(await packCost(kubernetesPack, [dear])).toBeLessThan(100)
  expect(await packCost(kubernetesPack, [command('make test')])).toBeLessThan(50)
})
