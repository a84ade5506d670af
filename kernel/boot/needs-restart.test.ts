import { expect, test } from 'bun:test'
import { load } from '../config/config.fixture.ts'
import { needsRestart } from './needs-restart.ts'

const url = 'postgres://u:p@db.test/gateway'
const started = load(`{ server: { log_format: json }, database: { url: "${url}" }, models: [] }`)

test('names the settings that differ, without their values', () => {
  const next = load('{ server: { bind: "127.0.0.1:9", max_body_bytes: 5 }, models: [] }')
  expect(needsRestart(started, next)).toEqual([
    'database.url',
    'server.bind',
    'server.log_format',
    'server.max_body_bytes',
  ])
})

test('settings that the environment overrides do not count', () => {
  const env = { GATEWAY_BIND: '127.0.0.1:8080', DATABASE_URL: url }
  const next = load('{ server: { log_format: json, bind: "127.0.0.1:9" }, models: [] }', env)
  expect(needsRestart(started, next)).toEqual([])
})
