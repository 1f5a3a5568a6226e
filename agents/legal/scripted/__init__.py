"""Offline agents of the legal benchmark."""
