"""The tables as SQLAlchemy models; docs/schema.md has a sentence and a picture of each."""

from scrapersky.models.alarm import Alarm
from scrapersky.models.audit import Audit
from scrapersky.models.base import Base
from scrapersky.models.contact import Contact
from scrapersky.models.curation_action import CurationAction, CurationChange
from scrapersky.models.dead_letter import DeadLetter
from scrapersky.models.delivery import Delivery
from scrapersky.models.destination import Destination
from scrapersky.models.domain import BusinessDomain, Domain
from scrapersky.models.exported_lead import ExportedLead
from scrapersky.models.fetched_body import FetchedBody
from scrapersky.models.host_limit import HostLimit
from scrapersky.models.idempotency_key import IdempotencyKey
from scrapersky.models.invitation import Invitation
from scrapersky.models.job import Job
from scrapersky.models.local_business import LocalBusiness, MatchKey
from scrapersky.models.page import Page
from scrapersky.models.place import Place
from scrapersky.models.provider_cooldown import ProviderCooldown
from scrapersky.models.provider_response import ProviderResponse
from scrapersky.models.quota_reschedule import QuotaReschedule
from scrapersky.models.quota_usage import QuotaUsage
from scrapersky.models.rate_limit import RateLimit
from scrapersky.models.retention import Retention
from scrapersky.models.run import Run
from scrapersky.models.saved_view import SavedView
from scrapersky.models.schedule import Schedule
from scrapersky.models.search import CampaignSearch, Search, SearchBusiness, SearchContact, SearchDomain, SearchPlace
from scrapersky.models.search_journal import SearchJournal
from scrapersky.models.search_progress import SearchProgress
from scrapersky.models.search_run import SearchRun
from scrapersky.models.session import LoginSession
from scrapersky.models.sitemap_file import SitemapFile
from scrapersky.models.spending import Spending
from scrapersky.models.suppression import Suppression
from scrapersky.models.tenant import ApiKey, Tenant, User
from scrapersky.models.unanswered_call import UnansweredCall
from scrapersky.models.workflow_control import Maintenance, Worker, WorkflowControl

__all__ = [
    "Alarm",
    "ApiKey",
    "Audit",
    "Base",
    "BusinessDomain",
    "CampaignSearch",
    "Contact",
    "CurationAction",
    "CurationChange",
    "DeadLetter",
    "Delivery",
    "Destination",
    "Domain",
    "ExportedLead",
    "FetchedBody",
    "HostLimit",
    "IdempotencyKey",
    "Invitation",
    "Job",
    "LocalBusiness",
    "LoginSession",
    "Maintenance",
    "MatchKey",
    "Page",
    "Place",
    "ProviderCooldown",
    "ProviderResponse",
    "QuotaReschedule",
    "QuotaUsage",
    "RateLimit",
    "Retention",
    "Run",
    "SavedView",
    "Schedule",
    "Search",
    "SearchBusiness",
    "SearchContact",
    "SearchDomain",
    "SearchJournal",
    "SearchPlace",
    "SearchProgress",
    "SearchRun",
    "SitemapFile",
    "Spending",
    "Suppression",
    "Tenant",
    "UnansweredCall",
    "User",
    "Worker",
    "WorkflowControl",
]
