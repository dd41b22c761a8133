"""Handlers of the requests for conversations, messages, pins and summaries."""

from recollect.service import conversations, search_messages
from recollect.service.compaction import compact
from recollect.service.current_conversation import add_message
from recollect.service.delete_conversation import delete_conversation
from recollect.service.end_conversation import end_conversation
from recollect.service.fork_conversation import fork_conversation
from recollect.service.handlers.handler_table import Handlers
from recollect.wire.requests import conversations as requests

HANDLERS: Handlers = {
    requests.StartConversationRequest: conversations.start_conversation,
    requests.GetConversationRequest: conversations.get_conversation,
    requests.FindConversationRequest: conversations.find_conversation,
    requests.ForkConversationRequest: fork_conversation,
    requests.ListConversationsRequest: conversations.list_conversations,
    requests.EndConversationRequest: end_conversation,
    requests.ResumeConversationRequest: conversations.resume_conversation,
    requests.RenameConversationRequest: conversations.rename_conversation,
    requests.SetConversationMetadataRequest: conversations.set_conversation_metadata,
    requests.DeleteConversationRequest: delete_conversation,
    requests.AppendMessageRequest: conversations.append_message,
    requests.AppendMessagesRequest: conversations.append_messages,
    requests.GetMessageRequest: conversations.get_message,
    requests.DeleteMessageRequest: conversations.delete_message,
    requests.PopMessageRequest: conversations.pop_message,
    requests.AddMessageRequest: add_message,
    requests.ListMessagesRequest: conversations.list_messages,
    requests.ListAgentMessagesRequest: search_messages.list_agent_messages,
    requests.ListAllMessagesRequest: conversations.list_all_messages,
    requests.ListMessagesInContextRequest: conversations.list_messages_in_context,
    requests.ListSummariesRequest: conversations.list_summaries,
    requests.PinMessageRequest: conversations.pin_message,
    requests.AddPinRequest: conversations.add_pin,
    requests.RemovePinRequest: conversations.remove_pin,
    requests.ListPinsRequest: conversations.list_pins,
    requests.SearchMessagesRequest: search_messages.search_messages,
    requests.SearchForLettaRequest: search_messages.search_for_letta,
    requests.CompactConversationRequest: compact,
}
