/** What plugins around spend import, as `model-gateway/accounting`. */
export type {
  Accounting,
  AccountingSink,
  AdmissionRequest,
  BudgetState,
  CommittedSettlement,
  DispatchedCall,
  Metering,
  PartialStream,
  PriceQuery,
  PriceResolution,
  PricingSource,
  PricingStatus,
  RateResolution,
  SettledCall,
  Settlement,
  SettlementRequest,
  Spender,
  SpendWatch,
} from '../../kernel/plugin/accounting.ts'
// The points at which the kernel asks for them.
export { accounting, accountingSinks, pricingSource } from '../../kernel/plugin/points.ts'
