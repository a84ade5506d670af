import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../plugin/errors.ts'
import { noTags, readTags } from './tags.ts'

const read = (headers: Record<string, string>) => readTags((name) => headers[name] ?? null)

function refusal(headers: Record<string, string>): string {
  try {
    read(headers)
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_request') return error.message
    throw error
  }
  return 'accepted'
}

describe('request tags', () => {
  test('no header, no tags', () => {
    expect(read({})).toBe(noTags)
  })

  test('the universal three and a list', () => {
    expect(
      read({
        'x-gateway-service': 'checkout',
        'x-gateway-component': 'cart/v2',
        'x-gateway-env': 'prod:eu',
        'x-gateway-tags': 'team=ml; cost.centre=4711 ; run-id=a_b ; ',
      }),
    ).toEqual({
      service: 'checkout',
      component: 'cart/v2',
      env: 'prod:eu',
      custom: [
        { key: 'team', value: 'ml' },
        { key: 'cost.centre', value: '4711' },
        { key: 'run-id', value: 'a_b' },
      ],
    })
  })

  test.each([
    [{ 'x-gateway-service': '' }, 'x-gateway-service'],
    [{ 'x-gateway-env': 'Prod' }, 'x-gateway-env'],
    [{ 'x-gateway-component': 'x'.repeat(65) }, '64'],
    [{ 'x-gateway-tags': 'team' }, 'key=value'],
    [{ 'x-gateway-tags': 'Team=a' }, "'Team'"],
    [{ 'x-gateway-tags': '1a=a' }, "'1a'"],
    [{ 'x-gateway-tags': `${'k'.repeat(33)}=a` }, '32'],
    [{ 'x-gateway-tags': 'team=' }, "'team'"],
    [{ 'x-gateway-tags': 'team=a b' }, "'team'"],
    [{ 'x-gateway-tags': 'team=a;team=b' }, 'twice'],
    [{ 'x-gateway-tags': 'team=a;;run=b' }, 'x-gateway-tags: tag 2 is empty'],
    [{ 'x-gateway-tags': ' ;team=a' }, 'x-gateway-tags: tag 1 is empty'],
    [{ 'x-gateway-tags': 'team=a;;' }, 'x-gateway-tags: tag 2 is empty'],
    [{ 'x-gateway-tags': 'env=prod' }, 'x-gateway-env'],
    [{ 'x-gateway-tags': 'a=1;b=2;c=3;d=4;e=5;f=6' }, 'at most 5'],
  ])('%j is refused', (headers, says) => {
    expect(refusal(headers as Record<string, string>)).toContain(says)
  })

  test('five are accepted', () => {
    expect(read({ 'x-gateway-tags': 'a=1;b=2;c=3;d=4;e=5' }).custom).toHaveLength(5)
  })
})
