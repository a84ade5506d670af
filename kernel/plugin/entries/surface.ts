/** Exported as `model-gateway/surface`: for public APIs, dialects and conversions. */
export type { Affinity, StateReference, TiedCall, Ties } from '../affinity.ts'
export { affinity, conversions, dialects, surfaces } from '../points.ts'
export type {
  CallError,
  Conversion,
  ConversionRoute,
  ConvertedCall,
  Dialect,
  DialectStream,
  DialectStreaming,
  DialectViews,
  GuardTexts,
  GuardToolCalls,
  ReplyFacts,
  ReplyIdentity,
  StreamFailure,
  StreamOptions,
  Surface,
  SurfaceCall,
  SurfaceDoor,
  SurfaceRequest,
  WireError,
} from '../surface.ts'
