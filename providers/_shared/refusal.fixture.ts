import { GatewayError } from 'model-gateway/plugin'

/** What a call is refused with as `invalid_request`. */
export function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_request') return error.message
    throw error
  }
  throw new Error('it was not refused')
}
