/**
 * Models that lose context, or refuse the call ("The `reasoning_content` in the thinking mode must
 * be passed back to the API"), unless they get their thinking before a tool call back:
 * langchain-ai/langchain#34177, MoonshotAI/kimi-cli#2141, and the guides of DeepSeek, Moonshot,
 * Z.ai and MiniMax.
 */
const WANTS_REASONING =
  /(?:^|[/.])(?:deepseek-(?:v3\.[2-9]|v[4-9]|flash|chat|reasoner)|kimi-k[2-9]|glm-(?:4\.[5-9]|[5-9])|minimax-m[2-9]|mimo-v\d)/i

/** Whether the upstream's model needs `reasoning_content` of earlier turns. */
export function wantsReasoning(upstreamModel: string): boolean {
  return WANTS_REASONING.test(upstreamModel)
}
