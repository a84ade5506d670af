import { createStore } from '@/lib/store.ts'

const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 15_000

/** Whether the last call reached the gateway. */
export const connection = createStore<'up' | 'down'>('up')

let waitMs = FIRST_WAIT_MS
let timer: ReturnType<typeof setTimeout> | undefined
let returned = () => {}
const waiting = new Set<() => void>()

/** Sets what to do after a reconnect. */
export function onReturn(action: () => void): void {
  returned = action
}

/** Reports that a call could not reach the gateway, and starts polling until it answers. */
export function lost(): void {
  if (connection.get() === 'down') return
  connection.set('down')
  waitMs = FIRST_WAIT_MS
  timer = setTimeout(look, waitMs)
}

/** Polls at once. */
export function retryNow(): void {
  clearTimeout(timer)
  void look()
}

/** Resolves when the gateway answers again. */
export async function whenUp(): Promise<void> {
  while (connection.get() === 'down') await new Promise<void>((resolve) => waiting.add(resolve))
}

/** Whether the gateway answers now. */
export async function answers(): Promise<boolean> {
  return await fetch('/healthz', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )
}

async function look(): Promise<void> {
  if (await answers()) {
    connection.set('up')
    for (const resolve of waiting) resolve()
    waiting.clear()
    returned()
    return
  }
  waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2)
  timer = setTimeout(look, waitMs)
}
