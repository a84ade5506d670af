import { hold } from './affinity.ts'
import { conclude, refuse } from './conclude.ts'
import {
  type Admitted,
  type Exchange,
  type Incoming,
  type LifecycleServices,
  Refusal,
  type Reply,
} from './exchange.ts'
import { execute } from './execute.ts'
import { guardPrompt } from './guard.ts'
import { admitStep, decodeStep } from './seams.ts'
import { authenticate, plan, receive } from './steps.ts'

/**
 * Handles one inference request completely. Never rejects; each exchange is recorded exactly once,
 * whatever its outcome.
 */
export function createInference(services: LifecycleServices) {
  return async function infer(incoming: Incoming): Promise<Reply> {
    const received = receive(incoming, services)
    let exchange: Exchange = received
    let guarded: Admitted
    try {
      const authenticated = await authenticate(received, services)
      exchange = authenticated
      const decoded = await decodeStep(authenticated, services)
      exchange = decoded
      const free = plan(decoded, services.random)
      exchange = free
      const held = hold(free, services)
      const planned = held instanceof Promise ? await held : held
      exchange = planned
      const admitted = await admitStep(planned, services)
      exchange = admitted
      guarded = await guardPrompt(admitted)
    } catch (thrown) {
      return thrown instanceof Refusal
        ? await refuse(thrown.exchange, thrown.error, services)
        : await refuse(exchange, thrown, services)
    }
    return await conclude(await execute(guarded, services), services)
  }
}
