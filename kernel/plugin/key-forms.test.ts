import { expect, test } from 'bun:test'
import { maskCredentials } from './key-forms.ts'

const KEY = 'Ab3dEf6hIj9lMn2pQr5t'
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U'

// Joined here, so that secret scanners do not report this file.
test.each([
  ...['sk-', 'sk-ant-api03-', 'sk_live_', 'rk_test_', 'whsec_', 'gsk_', 'xai-', 'pplx-', 'r8_'],
  ...['hf_', 'AIza', 'ya29.', 'GOCSPX-', 'AKIA', 'ASIA', 'ghp_', 'gho_', 'ghs_', 'github_pat_'],
  ...['glpat-', 'xoxb-', 'xoxp-', 'xapp-', 'npm_', 'pypi-', 'dop_v1_', 'shpat_', 'hvs.', 'gwk_'],
  ...['AGE-SECRET-KEY-', 'bearer ', `SG.${KEY}.`, 'hooks.slack.com/services/'],
  'discord.com/api/webhooks/1/',
])('%s… is masked, and the text around it stays', (begins) => {
  for (const [before, after] of [
    ['use ', ' now'],
    ['"', '"'],
    ['key=', ', please'],
    ['a\\n(', ')\\n'],
  ]) {
    const masked = maskCredentials(`${before}${begins}${KEY}${after}`)
    expect(masked).toBe(`${before}[redacted]${after}`)
  }
})

test('a JSON Web Token, a private key, basic credentials and the user of a URL are masked', () => {
  expect(maskCredentials(`got ${JWT}, ok`)).toBe('got [redacted], ok')
  const pem = (line: string) =>
    ['-----BEGIN OPENSSH PRIVATE KEY-----', 'MII', '-----END OPENSSH PRIVATE KEY-----'].join(line)
  for (const line of ['\n', '\\n', ' '])
    expect(maskCredentials(`a ${pem(line)} b`)).toBe('a [redacted] b')
  expect(maskCredentials(`basic ${btoa('joe:hunter2')} x`)).toBe('basic [redacted] x')
  expect(maskCredentials('at postgres://joe:hunter2@db/x?a=b@c')).toBe(
    'at postgres://[redacted]@db/x?a=b@c',
  )
})

test('words of the language are left', () => {
  for (const text of [
    'a disk-based-approach to mask-rcnn-training',
    'hf_hub_download_everything npm_config_registry_url glass-half-full-of-water',
    'basic information, basic understanding',
    'see www.example.com/some/long/path/to/a/page?with=parameters&and=more',
  ]) {
    expect(maskCredentials(text)).toBe(text)
  }
})
