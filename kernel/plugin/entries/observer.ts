/** Exported as `model-gateway/observer`. */
export type {
  Attempt,
  AttemptStatus,
  ExchangeRecord,
  ExchangeRecorder,
  Outcome,
  RequestTags,
  SentResponse,
} from '../exchange.ts'
export type { Follower, ObservedCall, ObservedRequest, Observer } from '../observer.ts'
export { exchangeRecorders, observers } from '../points.ts'
