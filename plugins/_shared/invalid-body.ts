import { GatewayError } from 'model-gateway/plugin'

/** A body that has the right shape and still cannot be. `path` as in `/team/team_id`. */
export function invalidBody(path: string, message: string): GatewayError {
  return new GatewayError('validation_failed', `${path}: ${message}`, {
    details: { problems: [{ path, message }] },
  })
}
