/** Exported as `model-gateway/middleware`. */
export {
  type Caller,
  type Candidate,
  type DecodedRequest,
  type DecodeExchange,
  type ExecuteExchange,
  type Middleware,
  type MiddlewareAt,
  type PlannedExchange,
  type RespondExchange,
  type Seam,
  type SeamTypes,
  seams,
} from '../middleware.ts'
export { middleware } from '../points.ts'
