import type { ResourceKind } from 'model-gateway/resources'
import type { Profile } from '../_shared/compat-profile.ts'
import type { KnownProvider } from '../_shared/environment.ts'

/** A dialect, by its name in routes, ledger and log. */
// biome-ignore format: a list
type Api =
  | 'chat_completions' | 'responses' | 'completions' | 'embeddings' | 'moderations' | 'rerank' | 'images'
  | 'images.edits' | 'audio.speech' | 'audio.transcriptions' | 'audio.translations'

/** A vendor with an OpenAI-compatible API, as a provider type. The key is sent as bearer token. */
export interface Preset extends KnownProvider {
  readonly address: 'base_url'
  /** With its version. */
  readonly baseUrl: string
  /** Whether calls need the key; `optional` for self-hosted servers. */
  readonly auth: 'bearer' | 'optional'
  /** Differences of its chat completions; `compatibility.generic_compat` overrides them. */
  readonly profile: Profile
  readonly apis: readonly Api[]
  /** Resources that it stores for callers, by OpenAI's paths and formats. Default: none. */
  readonly keeps?: readonly ResourceKind[]
  /** Paths that differ from OpenAI's, relative to the base URL. */
  readonly paths?: Readonly<Record<string, string>>
}

/** Vendors that accept `developer` also accept `system`, and only OpenAI stores replies. */
const compatible: Profile = {
  supports_store: false,
  developer_role: 'system',
  supports_stream_usage: true,
}
const withMaxTokens: Profile = { ...compatible, max_tokens_field: 'max_tokens' }

/** Members of earlier replies that clients send back. */
const repeated = ['messages[].annotations', 'messages[].audio', 'messages[].refusal']

const vendor = { address: 'base_url', auth: 'bearer' } as const
const server = { address: 'base_url', auth: 'optional', profile: withMaxTokens } as const

const text = ['chat_completions', 'completions', 'embeddings'] as const
const speech = ['audio.speech', 'audio.transcriptions', 'audio.translations'] as const

// One line per member, so that vendors can be compared.
// biome-ignore format: see above
export const presets: readonly Preset[] = [
  {
    ...vendor, type: 'openai', name: 'OpenAI', keys: ['OPENAI_API_KEY'],
    baseUrl: 'https://api.openai.com/v1', page: 'https://platform.openai.com/api-keys',
    profile: { supports_stream_usage: true },
    apis: [...text, 'responses', 'moderations', 'images', 'images.edits', ...speech],
    keeps: ['files', 'batches', 'responses'],
    pricing: 'openai', smallModel: 'gpt-6-luna',
  },
  {
    // Replies report their cost: https://openrouter.ai/docs/use-cases/usage-accounting
    ...vendor, type: 'openrouter', name: 'OpenRouter', keys: ['OPENROUTER_API_KEY'],
    baseUrl: 'https://openrouter.ai/api/v1', page: 'https://openrouter.ai/settings/keys',
    profile: { ...compatible, bills_stated_cost: true },
    apis: [...text, 'responses'],
    pricing: 'openrouter', smallModel: 'openai/gpt-oss-20b',
  },
  {
    // "property 'prompt_cache_key' is unsupported": https://console.groq.com/docs/openai, eigent-ai/eigent#1827,
    // janhq/jan#8136
    ...vendor, type: 'groq', name: 'Groq', keys: ['GROQ_API_KEY'],
    baseUrl: 'https://api.groq.com/openai/v1', page: 'https://console.groq.com/keys',
    profile: {
      ...compatible, takes_reasoning_content: false,
      unsupported_members: [
        'audio', 'logit_bias', 'logprobs', 'modalities', 'n', 'prediction', 'prompt_cache_key',
        'prompt_cache_retention', 'safety_identifier', 'top_logprobs', 'verbosity', 'web_search_options',
        ...repeated, 'messages[].name', 'messages[].reasoning_content',
      ],
    },
    // https://console.groq.com/docs/batch
    apis: ['chat_completions', 'responses', ...speech], keeps: ['files', 'batches'],
    pricing: 'groq', smallModel: 'openai/gpt-oss-20b',
  },
  {
    // Refuses what its schema lacks, with 422: https://docs.mistral.ai/api. The last chunk of a stream has the
    // usage: https://docs.mistral.ai/resources/release-note/2024-01-16-token-usage-in-streaming-requests
    ...vendor, type: 'mistral', name: 'Mistral', keys: ['MISTRAL_API_KEY'],
    baseUrl: 'https://api.mistral.ai/v1', page: 'https://console.mistral.ai/api-keys',
    profile: {
      ...withMaxTokens, supports_stream_usage: 'unasked', takes_reasoning_content: false,
      unsupported_members: [
        'audio', 'logit_bias', 'logprobs', 'modalities', 'prompt_cache_retention', 'safety_identifier', 'seed',
        'service_tier', 'top_logprobs', 'user', 'verbosity', 'web_search_options',
        ...repeated, 'messages[].name', 'messages[].reasoning', 'messages[].reasoning_content',
      ],
    },
    apis: ['chat_completions', 'embeddings', 'moderations', 'audio.transcriptions'],
    pricing: 'mistral', smallModel: 'ministral-3b-latest',
  },
  {
    // max_completion_tokens is ignored; a turn of thinking is wanted back: https://api-docs.deepseek.com
    ...vendor, type: 'deepseek', name: 'DeepSeek', keys: ['DEEPSEEK_API_KEY'],
    baseUrl: 'https://api.deepseek.com', page: 'https://platform.deepseek.com/api_keys',
    profile: { ...withMaxTokens, takes_reasoning_content: true },
    apis: ['chat_completions'],
    pricing: 'deepseek', smallModel: 'deepseek-flash',
  },
  {
    // Replies state what they cost: https://docs.x.ai/developers/cost-tracking
    ...vendor, type: 'xai', name: 'xAI', keys: ['XAI_API_KEY'],
    baseUrl: 'https://api.x.ai/v1', page: 'https://console.x.ai',
    profile: { ...compatible, bills_stated_cost: true },
    // https://docs.x.ai/docs/api-reference
    apis: ['chat_completions', 'responses', 'images'], keeps: ['responses'],
    pricing: 'x-ai', smallModel: 'grok-4.3',
  },
  {
    ...vendor, type: 'together', name: 'Together AI', keys: ['TOGETHER_API_KEY'],
    baseUrl: 'https://api.together.ai/v1', page: 'https://docs.together.ai/docs/inference/openai-compatibility',
    profile: withMaxTokens,
    apis: [...text, 'rerank', 'images', ...speech],
    pricing: 'together', smallModel: 'openai/gpt-oss-20b',
  },
  {
    // Refuses `reasoning` in messages, and takes reasoning_content: maximhq/bifrost#2405
    ...vendor, type: 'fireworks', name: 'Fireworks AI', keys: ['FIREWORKS_API_KEY'],
    baseUrl: 'https://api.fireworks.ai/inference/v1', page: 'https://docs.fireworks.ai/tools-sdks/openai-compatibility',
    profile: { ...withMaxTokens, unsupported_members: ['messages[].reasoning'] },
    apis: [...text, 'responses', 'rerank'],
    pricing: 'fireworks', smallModel: 'accounts/fireworks/models/gpt-oss-120b',
  },
  {
    // `developer` is not exposed: https://inference-docs.cerebras.ai/resources/openai
    ...vendor, type: 'cerebras', name: 'Cerebras', keys: ['CEREBRAS_API_KEY'],
    baseUrl: 'https://api.cerebras.ai/v1', page: 'https://inference-docs.cerebras.ai/resources/openai',
    profile: compatible,
    apis: ['chat_completions', 'completions'],
    pricing: 'cerebras', smallModel: 'gpt-oss-120b',
  },
  {
    // Has the responses API alone since chat completions were retired on 2026-09-27; replies state their cost:
    // https://docs.perplexity.ai/docs/agent-api/migrate-from-sonar/overview
    ...vendor, type: 'perplexity', name: 'Perplexity', keys: ['PERPLEXITY_API_KEY'],
    baseUrl: 'https://api.perplexity.ai/v1', page: 'https://docs.perplexity.ai/docs/agent-api/openai-compatibility',
    profile: { ...compatible, upstream_api: 'responses', bills_stated_cost: true },
    apis: ['chat_completions', 'responses', 'embeddings'],
    pricing: 'perplexity', smallModel: 'perplexity/sonar',
  },
  {
    // A turn of thinking is wanted back: https://platform.kimi.ai/docs/guide/use-thinking-models
    ...vendor, type: 'moonshot', name: 'Moonshot AI', keys: ['MOONSHOT_API_KEY'],
    baseUrl: 'https://api.moonshot.ai/v1', page: 'https://platform.kimi.ai/docs/api/overview',
    profile: { ...compatible, takes_reasoning_content: true },
    apis: ['chat_completions', 'responses'],
    pricing: 'moonshotai', smallModel: 'kimi-k2.6',
  },
  {
    ...vendor, type: 'zai', name: 'Z.ai', keys: ['ZAI_API_KEY'],
    baseUrl: 'https://api.z.ai/api/paas/v4', page: 'https://docs.z.ai/guides/develop/openai/python',
    profile: withMaxTokens,
    apis: ['chat_completions', 'images'],
    pricing: 'zai', smallModel: 'glm-4.7-flashx',
  },
  {
    ...vendor, type: 'nvidia', name: 'NVIDIA', keys: ['NVIDIA_API_KEY'],
    baseUrl: 'https://integrate.api.nvidia.com/v1', page: 'https://docs.api.nvidia.com/nim/reference/llm-apis',
    profile: withMaxTokens,
    apis: [...text],
    smallModel: 'openai/gpt-oss-20b',
  },
  {
    ...vendor, type: 'huggingface', name: 'Hugging Face', keys: ['HF_TOKEN'],
    baseUrl: 'https://router.huggingface.co/v1', page: 'https://huggingface.co/docs/inference-providers',
    profile: withMaxTokens, apis: ['chat_completions', 'responses'],
    smallModel: 'meta-llama/Llama-3.1-8B-Instruct',
  },
  {
    // What is not supported: https://docs.cohere.com/docs/compatibility-api, where `developer` is the system's role.
    ...vendor, type: 'cohere', name: 'Cohere', keys: ['COHERE_API_KEY', 'CO_API_KEY'],
    baseUrl: 'https://api.cohere.ai/compatibility/v1', page: 'https://docs.cohere.com/docs/compatibility-api',
    profile: {
      supports_store: false, supports_stream_usage: true, max_tokens_field: 'max_tokens',
      unsupported_members: [
        'audio', 'logit_bias', 'metadata', 'modalities', 'n', 'parallel_tool_calls', 'prediction', 'service_tier',
        'top_logprobs',
      ],
    },
    apis: ['chat_completions', 'embeddings', 'rerank', 'audio.transcriptions'],
    paths: { rerank: '../../v2/rerank' },
    pricing: 'cohere', smallModel: 'command-r7b-12-2024',
  },
  {
    ...vendor, type: 'jina', name: 'Jina AI', keys: ['JINA_API_KEY'],
    baseUrl: 'https://api.jina.ai/v1', page: 'https://jina.ai/embeddings',
    profile: {}, apis: ['embeddings', 'rerank'],
    smallModel: 'jina-embeddings-v3',
  },
  {
    ...vendor, type: 'voyage', name: 'Voyage AI', keys: ['VOYAGE_API_KEY'],
    baseUrl: 'https://api.voyageai.com/v1', page: 'https://docs.voyageai.com/docs/api-key-and-installation',
    profile: {}, apis: ['embeddings', 'rerank'],
    pricing: 'voyageai', smallModel: 'voyage-4-lite',
  },
  {
    ...vendor, type: 'sambanova', name: 'SambaNova', keys: ['SAMBANOVA_API_KEY'],
    baseUrl: 'https://api.sambanova.ai/v1', page: 'https://docs.sambanova.ai/docs/en/features/openai-compatibility',
    profile: withMaxTokens,
    apis: [...text, 'audio.transcriptions'],
    smallModel: 'gpt-oss-120b',
  },
  {
    ...vendor, type: 'deepinfra', name: 'DeepInfra', keys: ['DEEPINFRA_API_KEY', 'DEEPINFRA_TOKEN'],
    baseUrl: 'https://api.deepinfra.com/v1/openai', page: 'https://docs.deepinfra.com/chat/overview',
    profile: withMaxTokens,
    apis: [...text, 'images', 'images.edits', ...speech],
    smallModel: 'openai/gpt-oss-120b',
  },
  {
    ...vendor, type: 'nebius', name: 'Nebius Token Factory', keys: ['NEBIUS_API_KEY'],
    baseUrl: 'https://api.tokenfactory.nebius.com/v1', page: 'https://docs.tokenfactory.nebius.com/quickstart',
    profile: withMaxTokens,
    apis: [...text, 'responses', 'images'],
    smallModel: 'openai/gpt-oss-120b',
  },
  {
    ...vendor, type: 'novita', name: 'Novita AI', keys: ['NOVITA_API_KEY'],
    baseUrl: 'https://api.novita.ai/openai/v1', page: 'https://novita.ai/docs/guides/introduction',
    profile: withMaxTokens,
    apis: [...text],
    pricing: 'novita', smallModel: 'zai-org/glm-5.3-flash',
  },
  {
    ...vendor, type: 'hyperbolic', name: 'Hyperbolic', keys: ['HYPERBOLIC_API_KEY'],
    baseUrl: 'https://api.hyperbolic.xyz/v1', page: 'https://docs.hyperbolic.ai/inference/performance-limits',
    profile: withMaxTokens, apis: ['chat_completions', 'completions'],
    smallModel: 'meta-llama/Llama-3.3-70B-Instruct',
  },
  {
    ...vendor, type: 'dashscope', name: 'Alibaba Cloud Model Studio', keys: ['DASHSCOPE_API_KEY'],
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    page: 'https://www.alibabacloud.com/help/en/model-studio/models',
    profile: withMaxTokens,
    apis: [...text, 'responses'],
    smallModel: 'qwen-flash',
  },
  {
    // max_tokens is deprecated; the whole message with its thinking is wanted back:
    // https://platform.minimax.io/docs/api-reference/text-openai-api
    ...vendor, type: 'minimax', name: 'MiniMax', keys: ['MINIMAX_API_KEY'],
    baseUrl: 'https://api.minimax.io/v1', page: 'https://platform.minimax.io/docs/api-reference/text-openai-api',
    profile: compatible,
    apis: ['chat_completions', 'responses'],
    smallModel: 'MiniMax-M3',
  },
  {
    ...vendor, type: 'baseten', name: 'Baseten', keys: ['BASETEN_API_KEY'],
    baseUrl: 'https://inference.baseten.co/v1', page: 'https://docs.baseten.co/inference/model-apis/overview',
    profile: withMaxTokens, apis: ['chat_completions'],
    pricing: 'baseten', smallModel: 'openai/gpt-oss-120b',
  },
  {
    // The last chunk of a stream has the usage: https://docs.ai21.com/reference/jamba-api-response
    ...vendor, type: 'ai21', name: 'AI21 Labs', keys: ['AI21_API_KEY'],
    baseUrl: 'https://api.ai21.com/studio/v1', page: 'https://docs.ai21.com/docs/create-api-key',
    profile: { ...withMaxTokens, supports_stream_usage: 'unasked' },
    apis: ['chat_completions'],
    smallModel: 'jamba-mini',
  },
  {
    ...vendor, type: 'vercel', name: 'Vercel AI Gateway', keys: ['AI_GATEWAY_API_KEY'],
    baseUrl: 'https://ai-gateway.vercel.sh/v1',
    page: 'https://vercel.com/docs/ai-gateway/sdks-and-apis/openai-chat-completions',
    profile: compatible,
    apis: ['chat_completions', 'responses', 'embeddings'],
    smallModel: 'openai/gpt-oss-20b',
  },
  {
    ...server, type: 'ollama', name: 'Ollama', keys: [],
    baseUrl: 'http://127.0.0.1:11434/v1', page: 'https://docs.ollama.com/api/openai-compatibility',
    apis: [...text, 'responses'],
    smallModel: 'qwen3:0.6b',
  },
  {
    ...server, type: 'vllm', name: 'vLLM', keys: ['VLLM_API_KEY'],
    baseUrl: 'http://127.0.0.1:8000/v1', page: 'https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html',
    apis: [...text, 'responses', 'rerank', 'audio.transcriptions', 'audio.translations'],
    smallModel: 'Qwen/Qwen3-0.6B',
  },
  {
    ...server, type: 'lmstudio', name: 'LM Studio', keys: ['LM_API_TOKEN'],
    baseUrl: 'http://127.0.0.1:1234/v1', page: 'https://lmstudio.ai/docs/developer/openai-compat',
    apis: [...text, 'responses'],
    smallModel: 'openai/gpt-oss-20b',
  },
  {
    ...server, type: 'sglang', name: 'SGLang', keys: [],
    baseUrl: 'http://127.0.0.1:30000/v1', page: 'https://docs.sglang.ai/basic_usage/openai_api.html',
    apis: [...text, 'responses', 'rerank', 'audio.transcriptions'],
    smallModel: 'qwen/qwen2.5-0.5b-instruct',
  },
  {
    // Listens where the gateway itself does by default: one of the two needs another port.
    ...server, type: 'llama_cpp', name: 'llama.cpp', keys: ['LLAMA_API_KEY'],
    baseUrl: 'http://127.0.0.1:8080/v1', page: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md',
    apis: [...text, 'responses', 'rerank'],
    smallModel: 'ggml-org/gemma-3-1b-it-GGUF',
  },
]
